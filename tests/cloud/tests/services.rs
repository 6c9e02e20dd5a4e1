//! The other services over the wire: formats of answers and errors.

use crate::client::{cloud, json, query, send};

#[tokio::test]
async fn each_service_answers_in_its_format() {
    let cloud = cloud().await;
    let told = query(&cloud, "sts", "Action=GetCallerIdentity")
        .await
        .expect("an answer");
    assert_eq!(told.element("Account"), Some("111122223333"));
    let told = query(
        &cloud,
        "iam",
        "Action=GetInstanceProfile&InstanceProfileName=none",
    )
    .await;
    let told = told.expect("an answer");
    assert_eq!(
        (told.status, told.element("Code")),
        (404, Some("NoSuchEntity"))
    );
    let name = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id";
    let told = json(
        &cloud,
        "ssm",
        "AmazonSSM.GetParameter",
        &format!(r#"{{"Name":"{name}"}}"#),
    )
    .await;
    assert!(
        told.body.contains(r#""Value":"ami-00000000000000001""#),
        "{}",
        told.body
    );
    let told = json(
        &cloud,
        "ssm",
        "AmazonSSM.GetParameter",
        r#"{"Name":"none"}"#,
    )
    .await;
    assert_eq!(told.status, 400);
    assert!(told.body.contains("ParameterNotFound"));
    let told = send(&cloud, "eks", "GET", "/clusters/demo", "", "")
        .await
        .expect("an answer");
    assert!(told.body.contains("10.100.0.0/16"));
    let told = send(&cloud, "eks", "GET", "/clusters/none", "", "")
        .await
        .expect("an answer");
    assert_eq!(told.status, 404);
    assert!(
        told.head
            .contains("x-amzn-errortype: resourcenotfoundexception")
    );
    let asked = r#"{"ServiceCode":"AmazonEC2","Filters":[{"Type":"TERM_MATCH","Field":"instanceType","Value":"m5.large"}]}"#;
    let told = json(&cloud, "pricing", "AWSPriceListService.GetProducts", asked).await;
    assert!(
        told.body.contains(r#"\"USD\":\"0.096000\""#),
        "{}",
        told.body
    );
}

#[tokio::test]
async fn what_is_signed_for_no_service_is_refused() {
    let cloud = cloud().await;
    let told = query(&cloud, "s3", "Action=ListBuckets")
        .await
        .expect("an answer");
    assert_eq!(told.status, 403);
    let told = query(&cloud, "ec2", "Action=DescribeVolumes")
        .await
        .expect("an answer");
    assert_eq!(
        (told.status, told.element("Code")),
        (400, Some("InvalidAction"))
    );
}

#[tokio::test]
async fn profiles_are_listed_below_a_path_alone() {
    let cloud = cloud().await;
    let make = |name: &str, path: &str| {
        format!("Action=CreateInstanceProfile&InstanceProfileName={name}&Path={path}")
    };
    for (name, path) in [("own", "/karpenter/us-east-1/demo/"), ("other", "/")] {
        let made = query(&cloud, "iam", &make(name, path))
            .await
            .expect("an answer");
        assert_eq!(made.status, 200);
    }
    let list = "Action=ListInstanceProfiles&PathPrefix=/karpenter/us-east-1/demo/";
    let told = query(&cloud, "iam", list).await.expect("an answer");
    assert_eq!(told.element("InstanceProfileName"), Some("own"));
    assert_eq!(told.count("InstanceProfileName"), 1);
}

#[tokio::test]
async fn the_log_has_calls_with_their_inputs() {
    let cloud = cloud().await;
    let form = "Action=DescribeSubnets&Filter.1.Name=tag%3Aa&Filter.1.Value.1=b";
    query(&cloud, "ec2", form).await.expect("an answer");
    let calls = cloud.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0].operation.as_str(), calls[0].error.as_deref()),
        ("DescribeSubnets", None)
    );
    assert_eq!(calls[0].input["Filter"][0]["Value"][0], "b");
    cloud.forget_calls();
    assert!(cloud.calls().is_empty());
}

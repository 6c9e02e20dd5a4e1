#!/usr/bin/env python3
"""Calls every operation of the cloud by boto3, and fails where an answer is none that the service gives.

Requests are checked by the SDK before they are sent, and answers by the same models (strict.py). Run it with the Python that install.sh
prints, and with the program, which it starts on a free port and ends itself:

    "$(check/install.sh)" check/boto.py path/to/plimsoll-cloud

Without the program it takes the cloud that the environment names, which must be new.
"""

import base64
import json
import os
import subprocess
import sys

import boto3
import strict
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

CLUSTER = "demo"


def start(program):
    """Starts the program and takes over what it exports."""
    process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("export "):
            name, value = line.removeprefix("export ").strip().split("=", 1)
            os.environ[name] = value
        if line.startswith("export INTERRUPTION_QUEUE"):
            break
    return process


def client(service, **settings):
    made = boto3.client(service, config=Config(retries={"max_attempts": 0}, parameter_validation=True, **settings))
    strict.watch(made)
    return made


def refused(code, status, call, **parameters):
    """Checks that a call is refused with a code and an HTTP status."""
    try:
        call(**parameters)
    except ClientError as error:
        told = error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
        assert told == (code, status), f"{told} instead of {(code, status)}"
        return
    raise AssertionError(f"{code} was expected of {parameters}")


def networks(ec2):
    own = [{"Name": "tag:karpenter.sh/discovery", "Values": [CLUSTER]}]
    subnets = ec2.describe_subnets(Filters=own)["Subnets"]
    assert {subnet["AvailabilityZone"] for subnet in subnets} == {"us-east-1a", "us-east-1b", "us-east-1c"}
    groups = ec2.describe_security_groups(Filters=own)["SecurityGroups"]
    assert len(groups) == 1 and groups[0]["GroupName"] == "demo-nodes"
    return subnets, groups[0]["GroupId"]


def images(ec2, ssm):
    name = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id"
    image = ssm.get_parameter(Name=name)["Parameter"]["Value"]
    found = ec2.describe_images(Owners=["amazon"], IncludeDeprecated=True, Filters=[{"Name": "image-id", "Values": [image]}])
    assert found["Images"][0]["Architecture"] == "x86_64"
    refused("ParameterNotFound", 400, ssm.get_parameter, Name="none")
    return image


def types(ec2, pricing):
    pages = ec2.get_paginator("describe_instance_types").paginate(PaginationConfig={"PageSize": 100})
    found = {own["InstanceType"]: own for page in pages for own in page["InstanceTypes"]}
    assert len(found) > 1000, len(found)
    m5 = found["m5.large"]
    assert m5["VCpuInfo"]["DefaultVCpus"] == 2 and m5["MemoryInfo"]["SizeInMiB"] == 8192
    assert m5["ProcessorInfo"]["SupportedArchitectures"] == ["x86_64"]
    assert m5["NetworkInfo"]["NetworkCards"][0]["MaximumNetworkInterfaces"] == 3
    assert m5["Hypervisor"] == "nitro" and m5["BareMetal"] is False
    assert found["g4dn.xlarge"]["GpuInfo"]["Gpus"][0]["MemoryInfo"]["SizeInMiB"] == 16384
    assert found["inf2.xlarge"]["NeuronInfo"]["NeuronDevices"][0]["CoreInfo"]["Count"] == 2
    assert found["inf2.xlarge"]["InferenceAcceleratorInfo"]["Accelerators"][0]["Count"] == 1
    refused("DryRunOperation", 412, ec2.describe_instance_types, DryRun=True)
    pages = ec2.get_paginator("describe_instance_type_offerings").paginate(LocationType="availability-zone")
    offerings = [own for page in pages for own in page["InstanceTypeOfferings"]]
    assert len(offerings) == 3 * len(found), len(offerings)
    pages = ec2.get_paginator("describe_spot_price_history").paginate(ProductDescriptions=["Linux/UNIX"])
    spot = [own for page in pages for own in page["SpotPriceHistory"]]
    assert len(spot) > 3000 and all(float(own["SpotPrice"]) > 0 for own in spot), len(spot)
    term = [{"Type": "TERM_MATCH", "Field": "tenancy", "Value": "Shared"}]
    pages = pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=term)
    products = [json.loads(text) for page in pages for text in page["PriceList"]]
    prices = {}
    for product in products:
        (offer,) = product["terms"]["OnDemand"].values()
        (dimension,) = offer["priceDimensions"].values()
        prices[product["product"]["attributes"]["instanceType"]] = float(dimension["pricePerUnit"]["USD"])
    assert prices["m5.large"] == 0.096, prices["m5.large"]


def profile(iam):
    name, role, path = "check", f"KarpenterNodeRole-{CLUSTER}", "/karpenter/us-east-1/demo/"
    refused("NoSuchEntity", 404, iam.get_instance_profile, InstanceProfileName=name)
    made = iam.create_instance_profile(InstanceProfileName=name, Path=path, Tags=[{"Key": "a", "Value": "b"}])
    assert made["InstanceProfile"]["Tags"] == [{"Key": "a", "Value": "b"}]
    refused("EntityAlreadyExists", 409, iam.create_instance_profile, InstanceProfileName=name)
    iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=role)
    told = iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
    assert [own["RoleName"] for own in told["Roles"]] == [role]
    assert len(iam.list_instance_profiles(PathPrefix=path)["InstanceProfiles"]) == 1
    assert iam.list_instance_profiles(PathPrefix="/other/")["InstanceProfiles"] == []
    return name, role


def template(ec2, image, profile_name, group):
    data = {
        "ImageId": image,
        "UserData": base64.b64encode(b"hello").decode(),
        "IamInstanceProfile": {"Name": profile_name},
        "NetworkInterfaces": [{"DeviceIndex": 0, "Groups": [group]}],
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 20, "VolumeType": "gp3", "Encrypted": True}}],
    }
    tags = [{"ResourceType": "launch-template", "Tags": [{"Key": "eks:eks-cluster-name", "Value": CLUSTER}]}]
    missing = "InvalidLaunchTemplateName.NotFoundException"
    refused(missing, 400, ec2.describe_launch_templates, LaunchTemplateNames=["check"])
    made = ec2.create_launch_template(LaunchTemplateName="check", LaunchTemplateData=data, TagSpecifications=tags)
    taken = "InvalidLaunchTemplateName.AlreadyExistsException"
    refused(taken, 400, ec2.create_launch_template, LaunchTemplateName="check", LaunchTemplateData=data)
    own = [{"Name": "tag:eks:eks-cluster-name", "Values": [CLUSTER]}]
    assert len(ec2.describe_launch_templates(Filters=own)["LaunchTemplates"]) == 1
    return made["LaunchTemplate"]["LaunchTemplateId"]


def fleet(ec2, subnets, image, group):
    overrides = [
        {"InstanceType": name, "SubnetId": subnet["SubnetId"], "AvailabilityZone": subnet["AvailabilityZone"],
         "ImageId": image, "Priority": float(number)}
        for number, name in enumerate(["m5.xlarge", "m5.large", "c5.large"]) for subnet in subnets
    ]
    asked = {
        "Type": "instant",
        "ClientToken": "check",
        "LaunchTemplateConfigs": [{
            "LaunchTemplateSpecification": {"LaunchTemplateName": "check", "Version": "$Latest"}, "Overrides": overrides,
        }],
        "SpotOptions": {"AllocationStrategy": "price-capacity-optimized"},
        "TargetCapacitySpecification": {"DefaultTargetCapacityType": "spot", "TotalTargetCapacity": 2},
        "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "karpenter.sh/nodepool", "Value": "default"}]}],
    }
    refused("DryRunOperation", 412, ec2.create_fleet, DryRun=True, **asked)
    refused("DryRunOperation", 412, ec2.run_instances, DryRun=True, MinCount=1, MaxCount=1,
            LaunchTemplate={"LaunchTemplateName": "check"})
    made = ec2.create_fleet(**asked)
    assert ec2.create_fleet(**asked)["Instances"] == made["Instances"]
    (entry,) = made["Instances"]
    assert entry["Lifecycle"] == "spot" and entry["InstanceType"] in {"m5.large", "c5.large"}, entry
    assert made.get("Errors", []) == []
    wrong = [{"InstanceType": "m6g.large", "SubnetId": subnets[0]["SubnetId"]}]
    config = {**asked["LaunchTemplateConfigs"][0], "Overrides": wrong}
    told = ec2.create_fleet(**{**asked, "ClientToken": "wrong", "LaunchTemplateConfigs": [config]})
    assert told["Instances"] == [] and told["Errors"][0]["ErrorCode"] == "InvalidParameterValue"
    assert told["Errors"][0]["LaunchTemplateAndOverrides"]["Overrides"]["InstanceType"] == "m6g.large"
    ids = entry["InstanceIds"]
    instances(ec2, ids, group)
    return ids


def instances(ec2, ids, group):
    own = [{"Name": "tag-key", "Values": ["karpenter.sh/nodepool"]}, {"Name": "instance-state-name", "Values": ["running"]}]
    pages = ec2.get_paginator("describe_instances").paginate(Filters=own)
    found = [instance for page in pages for entry in page["Reservations"] for instance in entry["Instances"]]
    assert [instance["InstanceId"] for instance in found] == ids
    first = found[0]
    assert first["SpotInstanceRequestId"].startswith("sir-") and first["InstanceLifecycle"] == "spot"
    assert [own["GroupId"] for own in first["SecurityGroups"]] == [group]
    assert first["Placement"]["AvailabilityZoneId"].startswith("use1-az")
    assert first["MetadataOptions"]["HttpTokens"] == "required"
    assert first["IamInstanceProfile"]["Arn"].endswith("/check")
    assert first["LaunchTime"].year >= 2026
    ec2.create_tags(Resources=ids, Tags=[{"Key": "Name", "Value": "node"}])
    told = ec2.describe_instances(InstanceIds=ids[:1])["Reservations"][0]["Instances"][0]
    assert {"Key": "Name", "Value": "node"} in told["Tags"]
    status = ec2.describe_instance_status(InstanceIds=ids)["InstanceStatuses"]
    assert [own["InstanceStatus"]["Status"] for own in status] == ["ok", "ok"]
    impaired = [{"Name": "instance-status.status", "Values": ["impaired"]}]
    assert ec2.describe_instance_status(Filters=impaired)["InstanceStatuses"] == []
    refused("InvalidInstanceID.NotFound", 400, ec2.describe_instances, InstanceIds=["i-none"])


def end(ec2, iam, ids, template_id, profile_name, role):
    ended = ec2.terminate_instances(InstanceIds=ids)["TerminatingInstances"]
    assert {own["CurrentState"]["Name"] for own in ended} == {"shutting-down"}
    assert ec2.delete_launch_template(LaunchTemplateId=template_id)["LaunchTemplate"]["LaunchTemplateName"] == "check"
    refused("DeleteConflict", 409, iam.delete_instance_profile, InstanceProfileName=profile_name)
    iam.remove_role_from_instance_profile(InstanceProfileName=profile_name, RoleName=role)
    iam.delete_instance_profile(InstanceProfileName=profile_name)


def queue(sqs):
    refused("AWS.SimpleQueueService.NonExistentQueue", 400, sqs.get_queue_url, QueueName="none")
    url = sqs.get_queue_url(QueueName=CLUSTER)["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    told = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1, AttributeNames=["SentTimestamp"])
    (message,) = told["Messages"]
    assert message["Body"] == "hello" and "SentTimestamp" in message["Attributes"]
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert counts["ApproximateNumberOfMessagesNotVisible"] == "1"
    entries = [{"Id": "0", "ReceiptHandle": message["ReceiptHandle"]}, {"Id": "1", "ReceiptHandle": "x"}]
    told = sqs.delete_message_batch(QueueUrl=url, Entries=entries)
    assert told["Successful"] == [{"Id": "0"}] and told["Failed"][0]["Code"] == "ReceiptHandleIsInvalid"
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def caller():
    assert client("sts").get_caller_identity()["Account"] == "111122223333"
    # The question for a role is not signed; no role of the cloud trusts this token, whose claims are {}.
    role = {"RoleArn": "arn:aws:iam::111122223333:role/none", "RoleSessionName": "check"}
    take = client("sts", signature_version=UNSIGNED).assume_role_with_web_identity
    refused("InvalidIdentityToken", 400, take, WebIdentityToken="none", **role)
    refused("AccessDenied", 403, take, WebIdentityToken="e30.e30.e30", **role)


def main():
    process = start(sys.argv[1]) if len(sys.argv) > 1 else None
    try:
        ec2, iam = client("ec2"), client("iam")
        caller()
        cluster = client("eks").describe_cluster(name=CLUSTER)["cluster"]
        assert cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"] == "10.100.0.0/16"
        refused("ResourceNotFoundException", 404, client("eks").describe_cluster, name="none")
        subnets, group = networks(ec2)
        image = images(ec2, client("ssm"))
        types(ec2, client("pricing"))
        profile_name, role = profile(iam)
        template_id = template(ec2, image, profile_name, group)
        ids = fleet(ec2, subnets, image, group)
        end(ec2, iam, ids, template_id, profile_name, role)
        queue(client("sqs"))
        print("boto3 reads every answer")
    finally:
        if process:
            process.terminate()
            assert process.wait(timeout=5) == 0


if __name__ == "__main__":
    main()

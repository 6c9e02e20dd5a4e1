//! Every house rule, asked about this repository.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use plimsoll_tidy::graph::Features;
use plimsoll_tidy::supply::{self, Lists};
use plimsoll_tidy::{
    Graph, Tree, acceptance, clouds, docs, files, manifests, names, orphans, purity, rooms, spoken,
    unfinished, words,
};

static TREE: LazyLock<Tree> =
    LazyLock::new(|| Tree::of_checkout(&root()).expect("git lists the files"));

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let text = TREE
        .text("deny.toml")
        .expect("deny.toml stands in the root");
    Lists::parse(text).expect("deny.toml is readable")
});

static GRAPH: LazyLock<Graph> = LazyLock::new(|| graph(Features::Default));

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn graph(features: Features) -> Graph {
    Graph::of_workspace(&root(), LISTS.target(), features).expect("cargo resolves the workspace")
}

fn holds(breaches: &[String]) {
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

/// Rules over nothing hold; these would too.
#[test]
fn the_repository_is_seen() {
    assert!(TREE.text("host/core/model/src/lib.rs").is_some());
    let core = GRAPH
        .ours()
        .find(|(_, folder)| *folder == "host/core/model");
    assert_eq!(
        core.map(|(package, _)| package.name.as_str()),
        Some("plimsoll-model")
    );
    assert!(GRAPH.packages.iter().any(|package| package.name == "serde"));
}

#[test]
fn crates_use_what_their_room_may_use() {
    holds(&rooms::edges(&GRAPH));
}

#[test]
fn quiet_rooms_reach_no_runtime_and_no_client() {
    holds(&rooms::noise(&GRAPH));
}

#[test]
fn the_command_line_without_live_reaches_no_runtime_and_no_client() {
    holds(&rooms::noise_without_live(&graph(Features::None)));
}

#[test]
fn licences_are_allowed() {
    holds(&supply::licences(&GRAPH, &LISTS));
}

#[test]
fn outside_crates_come_from_the_public_registry() {
    holds(&supply::sources(&GRAPH));
}

#[test]
fn there_is_one_version_of_each_crate_and_none_that_is_banned() {
    holds(&supply::bans(&GRAPH, &LISTS));
}

#[test]
fn the_core_names_no_cloud() {
    holds(&clouds::named(&TREE));
}

#[test]
fn every_file_belongs_to_a_program() {
    holds(&orphans::orphans(&TREE));
}

#[test]
fn manifests_say_what_they_must() {
    holds(&manifests::manifests(&TREE));
}

#[test]
fn acceptance_rows_name_tests_that_exist() {
    holds(&acceptance::named_tests(&TREE));
}

#[test]
fn sources_begin_with_a_header() {
    holds(&files::headers(&TREE));
}

#[test]
fn long_files_say_why() {
    holds(&files::lengths(&TREE));
}

#[test]
fn nothing_is_left_undone_by_its_own_words() {
    holds(&unfinished::marks(&TREE));
}

#[test]
fn the_core_touches_nothing_but_its_arguments() {
    holds(&purity::reaches(&TREE));
}

#[test]
fn each_type_of_the_core_has_a_name_of_its_own() {
    holds(&names::types(&TREE));
}

#[test]
fn doc_comments_open_with_nouns() {
    holds(&docs::openings(&TREE));
    holds(&docs::headers(&TREE));
}

#[test]
fn texts_talk_about_the_product() {
    holds(&words::talk(&TREE));
}

#[test]
fn karpenter_and_what_depends_on_another_are_called_so() {
    holds(&words::retired(&TREE));
}

#[test]
fn people_read_the_words_of_the_field() {
    holds(&spoken::words(&TREE));
}

//! `--profile`: what it prints, and that nothing else does.

use super::Project;

#[test]
fn a_profile_names_the_steps_of_a_file_and_of_a_question() {
    let project = Project::new();
    let steps = |profile: &str| -> Vec<(String, u64)> {
        let lines = profile.lines().map(str::trim_start);
        let lines = lines.skip_while(|line| !line.starts_with("step")).skip(1);
        let cells = |line: &str| {
            let name = line.split("  ").next().unwrap_or_default().trim().to_owned();
            let count =
                line[name.len()..].split_whitespace().next().and_then(|text| text.parse().ok());
            (name, count.expect("the number of times"))
        };
        lines.map(cells).collect()
    };
    let (code, table, profile) = project.run(&["index", "--profile"]);
    assert_eq!(code, Some(0), "{profile}");
    assert!(profile.contains("CPU) · all "), "the phases: {profile}");
    assert!(!table.contains("step"), "on stderr alone: {table}");
    let built = steps(&profile);
    for step in
        ["read", "parse", "walk", "encode facts", "resolve file", "write rows", "term index"]
    {
        assert!(built.iter().any(|(name, times)| name == step && *times > 0), "{step}: {profile}");
    }
    let (code, _, profile) = project.run(&["references", "add", "--profile"]);
    assert_eq!(code, Some(0), "{profile}");
    let asked = steps(&profile);
    for step in ["compare files", "open repository", "query", "statement", "render"] {
        assert!(asked.iter().any(|(name, times)| name == step && *times > 0), "{step}: {profile}");
    }
    assert!(!asked.iter().any(|(name, _)| name == "parse"), "nothing has changed: {profile}");
    let (_, _, nothing) = project.run(&["references", "add"]);
    assert_eq!(nothing, "", "only where it is asked for");
}

//! The table of engines, and the options of every study.

use homenode_machine::KINDS;
use homenode_sim::{ENGINES, engine_named, engine_of, study_names, study_schema};

#[test]
fn every_kind_of_machine_has_one_engine() {
    for entry in KINDS {
        let engines = ENGINES.iter().filter(|engine| engine.kinds.contains(&entry.kind));
        assert_eq!(engines.count(), 1, "{}", entry.name);
    }
}

#[test]
fn an_engine_simulates_its_default_machine() {
    for engine in ENGINES {
        assert_eq!(engine_of(&[engine.default_machine]).unwrap().name, engine.name);
        assert_eq!(engine_named(engine.name).unwrap().name, engine.name);
    }
}

#[test]
fn every_option_is_described_and_every_choice_too() {
    for study in study_names() {
        let schema = study_schema(study).unwrap();
        let order = schema["x-order"].as_array().unwrap();
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(order.len(), properties.len(), "{study}");
        for name in order {
            let name = name.as_str().unwrap();
            let description = properties[name]["description"].as_str();
            assert!(description.is_some_and(|s| s.ends_with('.')), "{study} {name}");
        }
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            for choice in definition["oneOf"].as_array().into_iter().flatten() {
                assert!(choice["description"].is_string(), "{name}: {choice}");
            }
        }
    }
}

#[test]
fn options_of_other_studies_exist() {
    let named = study_names();
    for study in &named {
        let schema = study_schema(study).unwrap();
        for property in schema["properties"].as_object().unwrap().values() {
            if let Some(other) = property["x-options-of"].as_str() {
                assert!(named.contains(&other), "{other}");
            }
        }
    }
}

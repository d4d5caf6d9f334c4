"""`paddock schema`: the JSON schema of a scenario."""

import json


def schema() -> int:
    """Print the JSON schema of scenarios, for editors that complete and check YAML."""
    from paddock.scenario import scenario_schema

    print(json.dumps(scenario_schema(), indent=2))
    return 0

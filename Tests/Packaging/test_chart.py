"""The Helm chart: Helm's own lint and rendering, and Kubernetes' schemas of what comes out."""

import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from helm_python import Chart
from helm_python.chart import lint
from helm_python.errors import HelmError

CHART = Path(__file__).parents[2] / "packaging/helm/parley"
EVERYTHING = {
    "image": {"repository": "registry.example.com/parley", "tag": "1.2.3"},
    "imagePullSecrets": [{"name": "registry"}],
    "config": {"public_url": "https://events.example.com", "webhook": {"allow": ["10.20.0.0/16"]}},
    "existingSecret": "parley-keys",
    "persistence": {"size": "50Gi", "storageClass": "fast"},
    "service": {"type": "LoadBalancer", "port": 8080},
    "ingress": {
        "enabled": True, "className": "nginx", "annotations": {"a": "b"}, "host": "events.example.com", "tlsSecret": "t"},
    "podAnnotations": {"a": "b"}, "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "k", "operator": "Exists"}], "affinity": {"nodeAffinity": {}},
}
CLUSTER = {
    "replicas": 3, "existingSecret": "parley-keys",
    "cluster": {"engineSecret": "parley-engine", "bus": ["nats://n1:4222", "nats://n2:4222"]},
    "config": {"public_url": "https://events.example.com", "trusted_proxies": ["10.0.0.0/8"]},
}


def rendered(values=None, name="events"):
    """The manifests by kind."""
    texts = Chart.load(CHART).render(values or {}, name=name, namespace="chat")
    documents = [yaml.safe_load(text) for path, text in texts.items() if path.endswith(".yaml") and text.strip()]
    return {document["kind"]: document for document in documents}


@pytest.mark.parametrize(
    "values", [{}, EVERYTHING, CLUSTER, {**EVERYTHING, **CLUSTER}],
    ids=["as it is", "with everything", "a cluster", "a cluster with everything"])
def test_helm_and_kubernetes_accept_it(values):
    report = lint(str(CHART), values, strict=True)
    assert [m for m in report["messages"] if m["severity"] > 1] == [] and not report["errors"], report
    for document in rendered(values).values():
        for version in ("1.25", "1.34"):
            kubernetes_validate.validate(document, version, strict=True)


def test_the_pod_is_what_the_gateway_needs():
    manifests = rendered()
    assert set(manifests) == {"ConfigMap", "Service", "StatefulSet"}
    spec = manifests["StatefulSet"]["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert spec["replicas"] == 1
    assert spec["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "10Gi"
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert manifests["Service"]["spec"]["selector"] == spec["selector"]["matchLabels"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert (container["readinessProbe"]["httpGet"]["path"], container["livenessProbe"]["httpGet"]["path"]) == (
        "/readyz", "/livez")


def test_the_nodes_of_a_cluster_have_no_volumes_and_end_one_by_one():
    manifests = rendered(CLUSTER)
    assert set(manifests) == {"ConfigMap", "Service", "Deployment", "PodDisruptionBudget"}
    spec = manifests["Deployment"]["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    assert spec["replicas"] == 3 and spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert {volume["name"] for volume in pod["volumes"]} == {"engine", "config", "tmp"}
    assert {mount["name"] for mount in container["volumeMounts"]} == {"engine", "config", "tmp"}
    assert container["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "5"]
    # The wait before the end, requests and deliveries.
    assert pod["terminationGracePeriodSeconds"] >= 5 + 10 + 10
    selector = spec["selector"]["matchLabels"]
    assert selector.items() <= spec["template"]["metadata"]["labels"].items()
    assert pod["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"] == selector
    assert manifests["PodDisruptionBudget"]["spec"] == {"maxUnavailable": 1, "selector": {"matchLabels": selector}}
    assert manifests["Service"]["spec"]["selector"] == selector


def test_the_settings_are_ones_the_gateway_takes(tmp_path, parley):
    settings = rendered(EVERYTHING)["ConfigMap"]["data"]["parley.yaml"]
    assert yaml.safe_load(settings) == {
        "listen": "0.0.0.0:8080", "data": "/var/lib/parley/data", **EVERYTHING["config"]}
    (tmp_path / "parley.yaml").write_text(settings)
    # In a pod Kubernetes adds the variables of the service.
    environment = {"PARLEY_SERVICE_HOST": "10.0.0.1", "PARLEY_SERVICE_PORT_HTTP": "8080",
                   "PARLEY_PORT": "tcp://10.0.0.1:8080", "PARLEY_PORT_8080_TCP_ADDR": "10.0.0.1"}
    check = [parley, "config", "check", "--config", str(tmp_path / "parley.yaml")]
    done = subprocess.run(check, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done
    done = subprocess.run(check, capture_output=True, text=True, env={**environment, "PARLEY_LISTN": "0.0.0.0:1"})
    assert done.returncode == 1 and "did you mean 'PARLEY_LISTEN'?" in done.stderr, done


def test_what_cannot_be_is_refused():
    for values in [{"config": {"listen": "0.0.0.0:1"}}, {"ingress": {"enabled": True}}, {"replicas": 2},
                   {"cluster": {"bus": ["nats://n:4222"]}, "existingSecret": "k"}, {**CLUSTER, "existingSecret": ""},
                   {**CLUSTER, "cluster": {"engineSecret": "e", "bus": ["nats://u:p@n:4222"]}},
                   {"config": {"engine": "postgres://u:p@db/parley"}}]:
        with pytest.raises(HelmError):
            Chart.load(CHART).validate_schema(values)


def test_names_fit():
    assert rendered(name="parley")["StatefulSet"]["metadata"]["name"] == "parley"
    assert rendered(name="events")["StatefulSet"]["metadata"]["name"] == "events-parley"


def test_the_yaml_is_tidy():
    plain = [CHART / "Chart.yaml", CHART / "values.yaml", CHART.parents[1] / "compose.yaml",
             CHART.parents[1] / "compose-cluster.yaml", CHART.parents[1] / "parley.yaml"]
    rules = "{extends: default, rules: {document-start: disable, line-length: {max: 120}, braces: {max-spaces-inside: 0}}}"
    subprocess.run([sys.executable, "-m", "yamllint", "-s", "-d", rules, *map(str, plain)], check=True)

"""Clusters whose bill is compared over days, each drawn from a seed, as recordings that `plimsoll simulate` plays.

Shapes of requests, arrivals by hour of the day and lifetimes are those of the published trace that host/cli/src/generate/statistics.tsv
sums up (Alibaba openb 2023). The trace knows no services, so how many replicas they have and how their load moves is assumed, and stands
here as constants. None of these may be changed to please a strategy.
"""

import csv
import json
import random
from pathlib import Path

STATISTICS = Path(__file__).resolve().parents[2] / "host/cli/src/generate/statistics.tsv"
MINUTE, HOUR, DAY = 60, 3600, 86400
# Load that one replica carries.
TARGET = 100
# Replicas of a service at its peak.
PEAK = (2, 24)
# Least load of a service, in percent of its peak, at the quietest hour.
QUIET = 30
# How often its load is drawn anew, and by how many percent it differs from the curve.
STEP, NOISE = 30 * MINUTE, 10
# Days of the published trace with which runs begin. They last to its end: most of its work comes after day 110.
FIRST_DAYS = range(0, 120, 8)


def statistics():
    """Rows of the table by their kind."""
    shapes, hours, lifetimes = [], [], {"cpu": [], "gpu": []}
    for line in STATISTICS.read_text(encoding="utf-8").splitlines():
        kind, *fields = line.split("\t")
        if kind == "shape":
            gpus, cpu, memory, weight = map(int, fields)
            shapes.append(((gpus, cpu, memory), weight))
        elif kind == "hour":
            hours.append(int(fields[1]))
        elif kind == "lifetime":
            lifetimes[fields[0]].append((int(fields[1]), int(fields[2])))
    return shapes, hours, lifetimes


SHAPES, HOURS, LIFETIMES = statistics()


class Draw:
    """Draws of one cluster."""

    def __init__(self, family, seed):
        self.random = random.Random(f"{family} {seed}")

    def shape(self, gpu):
        chosen = [(shape, weight) for shape, weight in SHAPES if (shape[0] > 0) == gpu]
        return self.random.choices([shape for shape, _ in chosen], [weight for _, weight in chosen])[0]

    def lifetime(self, gpu):
        quantiles = LIFETIMES["gpu" if gpu else "cpu"]
        at = self.random.uniform(0, quantiles[-1][0])
        for (low, short), (high, long) in zip(quantiles, quantiles[1:]):
            if at <= high:
                return max(1, round(short + (long - short) * (at - low) / (high - low)))
        return quantiles[-1][1]

    def arrivals(self, days, per_day):
        """Instants of tasks, as the trace has them by the hour of the day."""
        whole = sum(HOURS)
        for hour in range(days * 24):
            expected = per_day * HOURS[hour % 24] / whole
            count = int(expected) + (self.random.random() < expected % 1)
            yield from sorted(hour * HOUR + self.random.randrange(HOUR) for _ in range(count))


def pool(name, capacity=("on-demand",), policy="WhenEmptyOrUnderutilized", after="2m", budgets=None, gpu=False):
    """A pool of current instances of the common categories."""
    categories = ["g"] if gpu else ["c", "m", "r"]
    spec = {"template": {"spec": {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        "requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": list(capacity)},
            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
            {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": categories},
            {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["4"]},
        ],
    }}, "disruption": {"consolidationPolicy": policy, "consolidateAfter": after}}
    if budgets:
        spec["disruption"]["budgets"] = budgets
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec, "status": ready}


def at(seconds, **change):
    return {"at": f"+{seconds}s", **change}


# Kinds of accelerators in the trace that instance types have, and what these call them.
GPU_NAMES = {"A10": "a10g", "T4": "t4", "V100M16": "v100", "V100M32": "v100"}


def requests(shape):
    gpus, cpu, memory = shape
    amounts = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    return dict(amounts, **{"nvidia.com/gpu": str(gpus)}) if gpus else amounts


def task(name, when, shape, lifetime, owner="Job", kinds=()):
    """A pod that runs once for so long, on some kinds of accelerators or on any."""
    group = "batch/v1" if owner == "Job" else "apps/v1"
    owned = {"apiVersion": group, "kind": owner, "name": name, "uid": f"owner-{name}", "controller": True}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "batch", "uid": name, "ownerReferences": [owned]},
           "spec": {"containers": [{"name": "task", "resources": {"requests": requests(shape)}}]}}
    if kinds:
        term = {"matchExpressions": [{"key": "karpenter.k8s.aws/instance-gpu-name", "operator": "In", "values": list(kinds)}]}
        pod["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    return at(when, runsFor=f"{lifetime}s", upsert=pod)


def tasks(draw, days, per_day, gpu=False):
    for number, when in enumerate(draw.arrivals(days, per_day)):
        yield task(f"task-{number:06}", when, draw.shape(gpu), draw.lifetime(gpu))


def template(name, shape, release=0, annotations=None):
    metadata = {"labels": {"app": name, "release": str(release)}}
    if annotations:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": {"containers": [{"name": "serve", "resources": {"requests": requests(shape)}}]}}


def small(draw):
    """What a service asks: a task's share, since a service of the size of a training task is rare."""
    _, cpu, memory = draw.shape(False)
    return 0, max(100, cpu // 16), max(128, memory // 16)


def services(draw, days, count, rollouts=False, annotated=0):
    """Deployments whose replicas follow a load by the hour of the day; some may not be disrupted."""
    curve = [hour / max(HOURS) for hour in HOURS]
    for number in range(count):
        name, shape, peak = f"service-{number:04}", small(draw), draw.random.randint(*PEAK)
        kept = {"karpenter.sh/do-not-disrupt": "true"} if draw.random.random() < annotated else None
        shift = draw.random.randrange(-2, 3)

        def load(when):
            level = QUIET + (100 - QUIET) * curve[(when // HOUR + shift) % 24] + draw.random.uniform(-NOISE, NOISE)
            return max(1, round(peak * TARGET * level / 100))

        def deployed(when, release):
            amount = load(when)
            return at(when, deploy={"namespace": "shop", "name": name, "replicas": max(1, -(-amount // TARGET)),
                                    "follows": {"target": TARGET, "least": 1, "most": peak + peak // 4},
                                    "template": template(name, shape, release, kept)})

        yield deployed(0, 0)
        for step in range(1, days * DAY // STEP):
            when = step * STEP + draw.random.randrange(5 * MINUTE)
            yield at(when, load={"namespace": "shop", "name": name, "amount": load(when)})
        for release in range(1, days * 2 if rollouts else 1):
            yield deployed(release * DAY // 2 + draw.random.randrange(HOUR), release)


def budget(name):
    """A PodDisruptionBudget that lets a tenth of a service go."""
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"maxUnavailable": "10%", "selector": {"matchLabels": {"app": name}}}}


def prices(draw, days):
    """Spot prices of common types that move by up to a third, a few an hour."""
    types = [f"{family}.{size}" for family in ("c5", "c6i", "c7i", "m5", "m6i", "m7i", "r5", "r6i", "r7i")
             for size in ("large", "xlarge", "2xlarge", "4xlarge")]
    listed = {"c": 0.0425, "m": 0.048, "r": 0.063}
    sizes = {"large": 1, "xlarge": 2, "2xlarge": 4, "4xlarge": 8}
    for hour in range(days * 24):
        for _ in range(3):
            name = draw.random.choice(types)
            full = listed[name[0]] * 2 * sizes[name.split(".")[1]]
            price = round(full * draw.random.uniform(0.25, 0.5), 4)
            yield at(hour * HOUR + draw.random.randrange(HOUR), price={"instanceType": name, "price": price})


def document(items, changes, seed, settings=None):
    changes = sorted(changes, key=lambda change: float(change["at"][1:-1]))
    section = {"time": "2026-01-05T00:00:00Z", "seed": seed, "catalogue": {"region": "us-east-1"}, "changes": changes}
    if settings:
        section["settings"] = settings
    return {"apiVersion": "v1", "kind": "List", "items": items, "plimsoll": section}


def daily(draw, seed, **more):
    return document([pool("general")], services(draw, 3, 40), seed, **more)


def jobs(draw, seed, **more):
    return document([pool("general")], tasks(draw, 3, 600), seed, **more)


def guarded(draw, seed, **more):
    budgets = [budget(f"service-{number:04}") for number in range(0, 40, 2)]
    return document([pool("general", budgets=[{"nodes": "10%"}]), *budgets], services(draw, 3, 40, annotated=0.05), seed, **more)


def spot(draw, seed, **more):
    changes = [*services(draw, 3, 30), *tasks(draw, 3, 200), *prices(draw, 3)]
    return document([pool("general", capacity=("on-demand", "spot"))], changes, seed, **more)


def rollouts(draw, seed, **more):
    return document([pool("general")], services(draw, 3, 40, rollouts=True), seed, **more)


def gpu(draw, seed, **more):
    return document([pool("gpu", gpu=True)], tasks(draw, 3, 150, gpu=True), seed, **more)


def few(draw, seed, **more):
    changes = [*services(draw, 4, 8), *tasks(draw, 4, 40)]
    return document([pool("general")], changes, seed, **more)


FAMILIES = {"daily": daily, "jobs": jobs, "guarded": guarded, "spot": spot, "rollouts": rollouts, "gpu": gpu, "small": few}


def drawn(family, seed, settings=None):
    """The recording of a family and a seed."""
    return FAMILIES[family](Draw(family, seed), seed, settings=settings)


def trace(folder, first_day, settings=None):
    """The published trace from a day on, as the program reads its table: what is alive on that day arrives then."""
    begin = first_day * DAY
    changes = []
    with open(Path(folder) / "traces/openb_pod_list_default.csv", encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            came, went = int(row["creation_time"]), int(row["deletion_time"])
            if went < begin:
                continue
            came = max(came, begin)
            owner = "Job" if row["qos"] == "BE" else "ReplicaSet"
            shape = int(row["num_gpu"]), int(row["cpu_milli"]), int(row["memory_mib"])
            known = [GPU_NAMES.get(kind) for kind in row["gpu_spec"].split("|")] if shape[0] and row["gpu_spec"] else []
            kinds = sorted(set(known)) if all(known) else []
            changes.append(task(row["name"], came - begin, shape, went - came, owner, kinds))
    return document([], changes, 1, settings=settings)


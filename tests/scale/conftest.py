"""A cluster of two machines, as far as Ray can tell: each has a raylet, an object store and workers of its own."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "^"}

STORE = 80 << 20  # bytes of each machine's objects; Ray takes no less


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two machines of one core; the tests of this process are connected with them."""
    try:
        import ray
        from ray.cluster_utils import Cluster
    except ImportError:
        missing = "Ray is not installed (the extra scale)"
        if os.environ.get("CI"):
            pytest.fail(f"{missing}, and continuous integration must not go without")
        pytest.skip(missing)
    made = Cluster(shutdown_at_exit=True)
    try:
        for _ in range(2):
            made.add_node(wait=False, num_cpus=1, object_store_memory=STORE, include_dashboard=False)
        made.wait_for_nodes(timeout=120)  # the machine may be busy
        ray.init(made.address, log_to_driver=False, logging_level="critical")
        assert len(ray.nodes()) == 2
        yield made
    finally:
        ray.shutdown()
        made.shutdown()

"""What fits into a Ray cluster, what never will, and what is waited for."""

from __future__ import annotations

from rookery.engine.engines.ray.admission import Kind, Machine, Need, missing_words, need_of, waiting_words
from rookery.engine.engines.ray.machines import Machines
from rookery.spec.compute import ClusterSpec
from rookery.spec.engine_options import RayOptions


def machine(name, cpus, gpus=0, free=None, alive=True, **more):
    has = {"CPU": float(cpus), "GPU": float(gpus), **more}
    return Machine(name, name, f"10.0.0.{name[1:]}", alive, has, has if free is None else {"CPU": float(free)})


THREE = [machine("r0", 1), machine("r1", 4, gpus=2), machine("r2", 8, gpus=2)]


class TestNeed:
    def test_takes_whole_nodes_where_the_target_does_not_say(self):
        assert need_of(ClusterSpec(), {}, 1, THREE, (), True) == Need(8, 2)
        assert need_of(ClusterSpec(), {}, 2, THREE, (), True) == Need(4, 2)
        assert need_of(ClusterSpec(), {}, 3, THREE, (), True) == Need(1, 0)

    def test_takes_what_the_target_says(self):
        assert need_of(ClusterSpec(cpus_per_node=2, gpus_per_node=1), {"x": 1}, 2, THREE, (), True) == Need(
            2, 1, {"x": 1}
        )

    def test_gives_every_core_of_nodes_that_have_the_gpus(self):
        assert need_of(ClusterSpec(gpus_per_node=1), {}, 2, THREE, (), True) == Need(4, 1)

    def test_shares_a_machine_where_that_is_allowed(self):
        assert need_of(ClusterSpec(), {}, 2, [machine("r1", 8, gpus=2)], (), False) == Need(4, 1)


class TestMissing:
    def test_is_nothing_when_it_fits(self):
        assert missing_words(Need(4, 2), 2, THREE, (), True, "head:6379") is None

    def test_says_what_was_asked_what_is_there_and_what_fits(self):
        words = missing_words(Need(4), 3, THREE, (), True, "head:6379")
        assert words.startswith(
            "3 nodes were requested with 4 CPUs each on machines of their own, but the Ray cluster at head:6379"
        )
        assert "r0: 1 CPU, r1: 4 CPUs, 2 GPUs" in words
        assert "At most 2 fit." in words

    def test_packs_more_than_one_on_a_machine(self):
        assert missing_words(Need(4), 3, THREE, (), False, "") is None

    def test_counts_kinds_of_resources_that_ray_has(self):
        assert "At most 1 fit" in missing_words(
            Need(1, 0, {"x": 1}), 2, [*THREE, machine("r3", 2, x=1.0)], (), True, ""
        )

    def test_counts_what_an_autoscaler_may_add(self):
        kinds = [Kind("gpu", {"CPU": 8.0, "GPU": 4.0}, 2)]
        assert missing_words(Need(8, 4), 2, THREE, kinds, True, "") is None
        words = missing_words(Need(8, 4), 3, THREE, kinds, True, "")
        assert "its autoscaler adds up to 2 x gpu (8 CPUs, 4 GPUs). At most 2 fit." in words

    def test_counts_what_an_autoscaler_may_add_in_all(self):
        kinds = [Kind("small", {"CPU": 1.0}, 3, 3), Kind("a", {"CPU": 8.0}, 2, 3), Kind("b", {"CPU": 8.0}, 2, 3)]
        assert missing_words(Need(8), 4, THREE, kinds, True, "") is None
        words = missing_words(Need(8), 5, THREE, kinds, True, "")
        assert "2 x a (8 CPUs), 2 x b (8 CPUs), 3 in all. At most 4 fit." in words


class TestWaiting:
    def test_says_what_is_free(self):
        words = waiting_words(Need(4), 2, [machine("r1", 4, free=1), machine("r2", 8)], (), True)
        assert words == "Ray has no room yet for 2 x 4 CPUs; free are r1 1 of 4 CPU, r2 8 of 8 CPU"

    def test_says_that_it_will_not_take_long(self):
        assert waiting_words(Need(1), 2, THREE, (), True) == "Ray is reserving 2 x 1 CPU"

    def test_says_that_the_autoscaler_was_asked(self):
        words = waiting_words(Need(8, 4), 1, THREE, [Kind("gpu", {"CPU": 8.0, "GPU": 4.0}, -1)], True)
        assert "autoscaler was asked for more nodes (any number x gpu (8 CPUs, 4 GPUs))" in words

    def test_names_a_dead_node_that_is_needed(self):
        words = waiting_words(Need(4), 2, [machine("r1", 4), machine("r2", 8, alive=False)], (), True)
        assert words.endswith("r2 must come back first (dead now)")


class TestMachines:
    def test_waits_for_a_node_that_died_until_another_stands_in_its_place(self):
        machines = Machines(RayOptions(address="head:6379"))
        told = [_told("a", "r1", True), _told("b", "r2", True)]
        machines.take({"nodes": told, "scaler": [], "patience_s": 60})
        machines.take({"nodes": [_told("b", "r2", False)], "scaler": [], "patience_s": 60})
        assert machines.missing(Need(2), 2) is None
        assert "r2 must come back first" in machines.waiting(Need(2), 2)
        machines.take({"nodes": [_told("c", "r2", True)], "scaler": [], "patience_s": 60})
        assert len(machines.that_count()) == 2
        assert "At most 2" in machines.missing(Need(2), 3)

    def test_does_not_wait_for_a_node_that_was_dead_all_along(self):
        machines = Machines(RayOptions(address="head:6379"))
        machines.take({"nodes": [_told("a", "r1", True), _told("b", "r2", False)], "scaler": [], "patience_s": 60})
        assert "At most 1" in machines.missing(Need(2), 2)

    def test_does_not_wait_for_a_node_that_the_autoscaler_has_taken_away(self):
        machines = Machines(RayOptions(address="head:6379"))
        box = {"name": "box", "resources": {"CPU": 2.0}, "max": 0, "shared": 0}
        boxes = [{**_told(name, name, True), "scaled_as": "box"} for name in ("r1", "r2")]
        machines.take({"nodes": [_told("r0", "r0", True), *boxes], "scaler": [box], "patience_s": 60})
        assert "At most 3" in machines.missing(Need(2), 4)
        gone = [{**one, "alive": False} for one in boxes]
        machines.take({"nodes": gone, "scaler": [{**box, "max": 2, "shared": 2}], "patience_s": 60})
        assert [m.name for m in machines.that_count()] == ["r0"]
        assert machines.missing(Need(2), 3) is None
        assert "2 x box (2 CPUs). At most 3" in machines.missing(Need(2), 4)
        assert "was asked for more nodes" in machines.waiting(Need(2), 3)


def _told(number, name, alive):
    has = {"CPU": 2.0}
    fields = {"id": number, "name": name, "address": name, "alive": alive, "resources": has, "free": has}
    return {**fields, "memory": 0, "kind": "", "death": ""}

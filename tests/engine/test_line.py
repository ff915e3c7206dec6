"""The line of waiting runs against a plain list, and what questions cost however long it is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.engine.line import Line, Request


class TestLine:
    @settings(max_examples=200, deadline=None)
    @given(st.data())
    def test_is_a_list_of_those_who_wait(self, data):
        size = data.draw(st.integers(1, 4))
        line, plain = Line(size), []
        for number in range(data.draw(st.integers(1, 30))):
            what = data.draw(st.sampled_from(["add", "add", "add", "remove", "resize"]))
            if what == "add":
                request = Request(f"r{number}", data.draw(st.integers(1, 5)), data.draw(st.booleans()))
                assert line.add(request)
                assert not line.add(request)
                plain.append(request)
            elif what == "remove" and plain:
                gone = plain.pop(data.draw(st.integers(0, len(plain) - 1)))
                assert line.remove(gone.run_id)
                assert not line.remove(gone.run_id)
            elif what == "resize":
                size = data.draw(st.integers(1, 5))
                line.resize(size)
            assert list(line) == plain
            assert [line.position(r.run_id) for r in plain] == list(range(1, len(plain) + 1))
            nested = [r for r in plain if r.nested]
            fitting = [r for r in plain if r.count <= size]
            assert line.first(0.0) == next(iter(nested or fitting), None)
        assert line.position("nobody") == 0

    def test_looks_at_all_in_turn_and_at_the_first_always(self):
        line = Line(1)
        for i in range(100):
            line.add(Request(f"r{i}", 1))
        seen, looks = set(), 0
        while len(seen) < 100:
            found = line.look(5, 10)
            assert [p for _, p in found[:5]] == [1, 2, 3, 4, 5]
            assert all(line.position(r.run_id) == p for r, p in found)
            seen |= {r.run_id for r, _ in found}
            looks += 1
            line.remove(f"r{50 + looks}")  # somebody leaves meanwhile
            seen.add(f"r{50 + looks}")
        assert looks <= 12

    def test_a_short_one_is_seen_whole(self):
        line = Line(1)
        for i in range(7):
            line.add(Request(f"r{i}", 1))
        assert [p for _, p in line.look(5, 10)] == list(range(1, 8))

    def test_is_not_walked_to_find_whose_turn_it_is(self):
        """Also after very many have left from its head, and with very many that can never fit before it."""

        class Counted(Request):
            asked = 0

            def least(self, now):
                Counted.asked += 1
                return super().least(now)

        line = Line(1)
        for i in range(5000):
            line.add(Counted(f"never{i}", 2))
        for i in range(5000):
            line.add(Counted(f"r{i}", 1))
        Counted.asked = 0
        for i in range(4000):
            assert line.first(0.0).run_id == f"r{i}"
            line.remove(f"r{i}")
        assert Counted.asked == 4000

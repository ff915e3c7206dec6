from __future__ import annotations

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from rookery.errors import UserError
from rookery.record.schema import experiments


def row(**values):
    return {"id": "e-1", "name": "x", "created_utc": "now", "tags": {}, "run_count": 0, **values}


class TestUnstorable:
    @pytest.mark.parametrize("values", [{"run_count": 2**64}, {"name": "\ud800"}])
    def test_is_the_senders_mistake(self, record, values):
        with pytest.raises(UserError, match="can be stored"), record.database.write() as tx:
            tx.conn.execute(insert(experiments).values(**row(**values)))
        with record.database.read() as conn:
            assert conn.execute(select(experiments)).all() == []

    def test_in_conditions_too(self, record):
        with pytest.raises(UserError, match="can be stored"), record.database.read() as conn:
            conn.execute(select(experiments).where(experiments.c.name == "\ud800")).all()

    def test_nul_where_the_database_minds(self, record, database_url):
        query = select(experiments).where(experiments.c.name == "a\x00b")
        if not database_url:
            with record.database.read() as conn:
                assert conn.execute(query).all() == []
            return
        with pytest.raises(UserError, match="NUL"), record.database.read() as conn:
            conn.execute(query)

    def test_other_errors_stay_what_they_are(self, record):
        with record.database.write() as tx:
            tx.conn.execute(insert(experiments).values(**row()))
        with pytest.raises(IntegrityError), record.database.write() as tx:
            tx.conn.execute(insert(experiments).values(**row()))

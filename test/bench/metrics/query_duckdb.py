"""
Computes three metrics in DuckDB with plain SQL and prints the results and times as JSON.
Arguments: the database, the first and last day, the number of runs of each query, the current time in milliseconds.
"""
import datetime
import json
import sqlite3
import sys
import time

import duckdb

file, first, last, turns, now = *sys.argv[1:4], *map(int, sys.argv[4:6])
source = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
db = duckdb.connect()
db.execute("set threads = 2")
db.execute("""create table rows (lineage_id bigint, on_at bigint, measure varchar, product_id varchar,
  base_milli bigint, count bigint)""")
db.execute("create table sales (lineage varchar, product_id varchar, price_milli bigint, currency varchar, bought_on date)")
db.execute("create table rates (currency varchar, rated_on date, per_usd_nano bigint)")


def copy(table, sql):
    """Copies rows through a CSV file, which DuckDB reads fastest."""
    import csv
    import os
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, newline="") as out:
        csv.writer(out).writerows(source.execute(sql))
    db.execute(f"copy {table} from '{out.name}' (header false)")
    os.unlink(out.name)


# Rows later than now are future ends of subscriptions.
copy("rows", f"""select lineage_id, on_at, measure, product_id, base_milli, count from metric_rows
  where generation = (select id from metric_generations where state = 'shown') and on_at <= {now}
  and measure in ('mrr', 'revenue.new', 'revenue.renewal', 'revenue.refund')""")
copy("sales", """select original_transaction_id, product_id, price_milli, currency, date(purchased_at / 1000, 'unixepoch')
  from transactions where offer_type is null""")
copy("rates", "select currency, rated_on, per_usd_nano from rates")

DAYS = f"select unnest(generate_series(date '{first}', date '{last}', interval 1 day))::date as day"
QUESTIONS = {
    # Each paid segment adds its monthly value at its start and subtracts it at its end.
    "mrr": f"""with days as ({DAYS}), moved as (
        select (make_timestamp(on_at * 1000))::date as day, sum(base_milli) as milli from rows where measure = 'mrr' group by 1)
      select day, (select sum(milli) from moved where moved.day <= days.day) as value from days order by day""",
    "active": f"""with days as ({DAYS}), moved as (
        select (make_timestamp(on_at * 1000))::date as day, sum(count) as alive from rows where measure = 'mrr' group by 1)
      select day, (select sum(alive) from moved where moved.day <= days.day) as value from days order by day""",
    # Converts each transaction at the rate of its day, or the newest rate before it.
    "revenue": f"""with sold as (
        select bought_on, product_id, currency, price_milli, count(*) as sales from sales
        where bought_on between date '{first}' and date '{last}' group by all)
      select bought_on as day, product_id, sum(sales * case when sold.currency = 'USD' then price_milli
          else round_even(price_milli * 1000000000.0 / per_usd_nano, 0) end)::bigint as value
      from sold asof left join rates on sold.currency = rates.currency and sold.bought_on >= rates.rated_on
      group by all order by all""",
}

answers = {}
for name, sql in QUESTIONS.items():
    result = db.execute(sql).fetchall()
    times = []
    for _ in range(turns):
        began = time.perf_counter()
        db.execute(sql).fetchall()
        times.append((time.perf_counter() - began) * 1000)
    rows = [[one.isoformat() if isinstance(one, datetime.date) else one if isinstance(one, str) else int(one or 0) for one in row] for row in result]
    answers[name] = {"ms": sorted(times)[len(times) // 2], "rows": rows}
print(json.dumps(answers))

"""Goes through every operation of a log service with nothing but Python's standard library.

usage: service-python.py URL TOKEN COMMAND... where the command prints the links for signing in as JSON, as
`tool service sign-in ADDRESS --format json` does, given an address. Prints one JSON line for each operation that did as it should; ends with 1 at the first
that did not.
"""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

url, token, links = sys.argv[1], sys.argv[2], sys.argv[3:]


def post(name, body=None, bearer=token, packed=False):
    data = b"" if body is None else json.dumps(body).encode()
    headers = {"Authorization": "Bearer " + bearer, "Content-Type": "application/json"}
    if packed:
        data = gzip.compress(data)
        headers["Content-Encoding"] = "gzip"
    request = urllib.request.Request(url + "/" + name, data=data, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read()
            if response.status == 204:
                assert text == b"", text
                return 204, None
            assert response.headers["Content-Type"] == "application/json", response.headers["Content-Type"]
            return response.status, json.loads(text)
    except urllib.error.HTTPError as error:
        assert error.headers["Content-Type"] == "application/json", error.headers["Content-Type"]
        return error.code, json.loads(error.read())


done = []


def expect(name, body, status, check=lambda answer: True, **more):
    got, answer = post(name, body, **more)
    assert got == status and check(answer), (name, got, answer)
    done.append(name)
    print(json.dumps({"operation": name, "status": got}))
    return answer


expect("get_projects", None, 200, lambda a: isinstance(a["projects"], list))
project = expect("add_project", {"project": {"name": "Python App", "retention": 0}}, 200)["id"]
expect("update_project", {"project": {"id": project, "description": "of a snake"}}, 204)
projects = expect("get_projects", {}, 200)["projects"]
assert [p for p in projects if p["id"] == project][0]["description"] == "of a snake"

events = [
    {"level": "error" if i % 4 == 0 else "info", "message": "m%d" % i, "timestamp": "2026-01-01T00:00:%02dZ" % i,
     "fields": {"status": 500 if i % 4 == 0 else 200, "path": "/a" if i % 2 else "/b", "ok": i % 4 != 0}}
    for i in range(60)
]
expect("add_events", {"project_id": project, "events": events}, 204)
expect("add_events", {"project_id": project, "events": [{"level": "warn", "message": "packed"}]}, 204, packed=True)
period = {"project_id": project, "start": "2026-01-01T00:00:00Z", "stop": "2026-01-01T00:01:00Z"}
found = expect("search", dict(period, query="status >= 500", limit=5), 200)
assert [e["message"] for e in found["events"]] == ["m56", "m52", "m48", "m44", "m40"], found
assert found["stats"]["total_bytes_billed"] == 0 and isinstance(found["stats"]["duration"], int)
rest = expect("search", dict(period, query="status >= 500", limit=50, cursor=found["cursor"]), 200)["events"]
assert [e["message"] for e in rest][:1] == ["m36"] and len(rest) == 10, rest
expect("get_count", dict(period, query="level = error"), 200, lambda a: a["count"] == 15)
expect("get_timeseries", dict(period, max_points=10), 200, lambda a: sum(p["count"] for p in a["points"]) == 60)
expect("get_level_timeseries", dict(period, max_points=10), 200,
       lambda a: sum(p["count"] for p in a["points"] if p["level"] == "error") == 15)
expect("aggregate", dict(period, query="status >= 500 | count by path"), 200, lambda a: a["rows"] == [["/b", 15]])
ticket = expect("add_export", dict(period, query="status >= 500", format="csv", fields=["path", "status"]), 200)["ticket"]
request = urllib.request.Request(url + "/export?ticket=" + ticket, headers={"Authorization": "Bearer " + token})
with urllib.request.urlopen(request, timeout=60) as response:
    rows = list(csv.reader(io.TextIOWrapper(response, "utf-8", newline="")))
assert rows[0] == ["time", "level", "message", "path", "status"] and len(rows) == 16, rows
assert rows[1][2:] == ["m56", "/b", "500"], rows
expect("query", {"project_id": project, "query": "SELECT count(*)::integer AS n FROM events"}, 200,
       lambda a: a["results"] == [{"n": 61}])
expect("query", {"project_id": project, "query": "DROP TABLE events"}, 400, lambda a: a["type"] == "bad_request")
expect("get_discovered_fields", period, 200, lambda a: {f["name"] for f in a["fields"]} >= {"status", "path", "ok"})
expect("get_string_field_stats", dict(period, field="path"), 200, lambda a: [v["count"] for v in a["values"]] == [30, 30])
expect("get_boolean_field_stats", dict(period, field="ok"), 200,
       lambda a: {v["value"]: v["count"] for v in a["values"]} == {True: 45, False: 15})
expect("get_numeric_field_stats", dict(period, field="status"), 200,
       lambda a: (a["min"], a["avg"], a["max"]) == (200, 275, 500))
expect("get_project_stats", {"project_id": project}, 200, lambda a: a["events_total"] == 61 and a["bytes_total"] > 0)
expect("get_usage", {"days": 92}, 200, lambda a: [u["project_id"] for u in a["projects"]].count(project) == 1)

notification = expect("add_notification", {"notification": {
    "project_id": project, "type": "webhook", "name": "hook", "webhook_url": "https://example.com/x"}}, 200)["id"]
expect("get_notifications", {"project_id": project}, 200, lambda a: len(a["notifications"]) == 1)
expect("check_notification", {"notification": {
    "project_id": project, "type": "webhook", "name": "more", "webhook_url": "https://127.0.0.1/hook"}}, 400)
expect("update_notification", {"notification": {"id": notification, "project_id": project, "name": "hooks"}}, 204)
expect("get_notification", {"project_id": project, "notification_id": notification}, 200,
       lambda a: a["notification"]["name"] == "hooks" and a["notification"]["webhook_url"] == "https://example.com/****")

alert = {"project_id": project, "name": "errors", "query": "error", "severity": "error", "operator": ">",
         "threshold": 0, "notification_id": notification}
expect("rotate_webhook_secret", {"project_id": project, "notification_id": notification}, 200,
       lambda a: len(a["secret"]) > 20)
expect("confirm_notification", {"project_id": project, "notification_id": notification, "sms_number": "+1 555 0100",
                                "code": "123456"}, 409, lambda a: a["type"] == "conflict")
# Nobody is there: whoever asked is told why.
expect("test_alert", {"alert": alert}, 502, lambda a: a["type"] == "notification_failed")
expect("preview_alert", {"alert": alert, "start": "2026-01-01T00:00:00Z", "stop": "2026-01-01T01:00:00Z"}, 200,
       lambda a: a["intervals"] == 12 and a["missing_bytes"] == 0 and len(a["episodes"]) == 1)
alert_id = expect("add_alert", {"alert": alert}, 200)["id"]
expect("get_alerts", {"project_id": project}, 200, lambda a: len(a["alerts"]) == 1)
expect("get_alerts", {}, 400, lambda a: a == {"type": "invalid", "message": "project_id: is required"})
expect("update_alert", {"alert": {"id": alert_id, "project_id": project, "muted": True}}, 204)
expect("get_alert", {"project_id": project, "alert_id": alert_id}, 200,
       lambda a: a["alert"]["muted"] is True and a["alert"]["interval"] == 5 and a["alert"]["limit"] == 10)
expect("get_alert_episodes", {"project_id": project, "alert_id": alert_id}, 200, lambda a: a == {"episodes": []})
expect("get_deliveries", {"project_id": project}, 200, lambda a: a == {"deliveries": []})
expect("retry_delivery", {"project_id": project, "delivery_id": "dlv_absent"}, 404)
expect("remove_notification", {"project_id": project, "notification_id": notification}, 409)
expect("remove_alert", {"project_id": project, "alert_id": alert_id}, 204)
expect("remove_notification", {"project_id": project, "notification_id": notification}, 204)

search = expect("add_search", {"search": {"project_id": project, "name": "slow", "query": "duration > 1s"}}, 200)["id"]
expect("update_search", {"search": {"id": search, "project_id": project, "name": "slower"}}, 204)
expect("get_searches", {"project_id": project}, 200, lambda a: a["searches"][0]["name"] == "slower")
expect("remove_search", {"project_id": project, "search_id": search}, 204)

reader = expect("add_token", {"token": {"description": "reader", "scopes": ["projects:read"]}}, 200)["id"]
expect("get_projects", {}, 200, bearer=reader)
expect("get_tokens", {}, 403, bearer=reader)
public = [t for t in expect("get_tokens", {}, 200)["tokens"] if t["description"] == "reader"][0]["id"]
expect("remove_token", {"token_id": public}, 204)
expect("get_projects", {}, 401, bearer=reader)
expect("get_audit", {"limit": 1000}, 200,
       lambda a: {"add_token", "remove_token"} <= {entry["operation"] for entry in a["entries"]})
expect("get_instance_config", None, 200, lambda a: set(a["config"]) == {"project_id", "region", "team_id", "disk_alerts"})

expect("remove_project", {"project_id": project}, 204)
expect("get_project_stats", {"project_id": project}, 404)


def link_to_confirm(email):
    printed = json.loads(subprocess.run([*links, email], check=True, capture_output=True, text=True).stdout)
    return printed["waiting"][-1]["confirm_url"].rsplit("/", 1)[1]


def signed_in(email, team=None):
    asked = {"email": email, **({"team_id": team} if team else {})}
    begun = expect("start_sign_in", asked, 200, lambda a: a["mailed"] is False, bearer="")
    expect("poll_sign_in", {"secret": begun["secret"]}, 200, lambda a: a == {"status": "waiting"}, bearer="")
    link = link_to_confirm(email)
    wrong = "000000" if begun["code"] != "000000" else "111111"
    expect("confirm_sign_in", {"link": link, "code": wrong}, 400, bearer="")
    expect("confirm_sign_in", {"link": link, "code": begun["code"]}, 200, lambda a: a["email"] == email, bearer="")
    expect("confirm_sign_in", {"link": link, "code": begun["code"]}, 404, bearer="")
    return expect("poll_sign_in", {"secret": begun["secret"]}, 200, lambda a: a["status"] == "confirmed", bearer="")


# The service may have been killed in the middle of an earlier run.
team = expect("get_instance_config", {}, 200)["config"]["team_id"]
bobs = "bob-%d@example.com" % os.getpid()
ann = signed_in("ann@example.com", team)["token"]
expect("get_account", {}, 200, lambda a: a["account"]["role"] == "owner" and a["account"]["kind"] == "command", bearer=ann)
expect("get_account", {}, 200, lambda a: a["account"]["kind"] == "api" and a["account"]["teams"] == [])
expect("get_teams", {}, 200, lambda a: team in [one["id"] for one in a["teams"]], bearer=ann)
expect("get_teams", {}, 403)
expect("update_team", {"team_id": team, "name": "Snakes"}, 204, bearer=ann)
invite = expect("add_member", {"email": bobs}, 200, lambda a: "/accept/" in a["link"], bearer=ann)["link"]
expect("get_members", {}, 200, lambda a: [m["state"] for m in a["members"] if m["email"] == bobs] == ["invited"], bearer=ann)
bob = signed_in(bobs, team)["token"]
expect("accept_invite", {"invite": invite.rsplit("/", 1)[1]}, 404, bearer=bob)
expect("add_member", {"email": "cleo@example.com"}, 403, bearer=bob)
expect("update_member", {"email": bobs, "role": "admin"}, 200, lambda answer: answer == {"tokens": []}, bearer=ann)
expect("add_member_link", {"email": bobs}, 200, lambda a: "/sign-in/link/" in a["link"], bearer=ann)
expect("remove_member", {"email": "ann@example.com"}, 403, bearer=bob)
ci = expect("add_ci_token", {"name": "build"}, 200, bearer=bob)
expect("get_projects", {}, 200, bearer=ci["token"])
expect("add_project", {"project": {"name": "CI"}}, 403, bearer=ci["token"])
expect("get_ci_tokens", {}, 200, lambda a: a["tokens"][-1]["created_by"] == bobs, bearer=ann)
left = expect("remove_member", {"email": bobs}, 200, lambda a: ci["id"] in a["tokens"], bearer=ann)
expect("get_members", {}, 401, bearer=bob)
expect("remove_ci_token", {"token_id": ci["id"]}, 204, bearer=ann)
other = expect("add_team", {"name": "Lizards"}, 200, bearer=ann)["id"]
expect("remove_team", {"team_id": other}, 404, bearer=ann)
lizard = signed_in("ann@example.com", other)["token"]
expect("remove_team", {"team_id": other}, 204, bearer=lizard)
subscription = {"team_id": team, "provider": "none", "status": "none", "edition": "pro"}
expect("get_subscription", {}, 200, lambda answer: answer == subscription)
for name in ["add_subscription", "change_card", "remove_subscription"]:
    expect(name, {}, 409, bearer=ann)
expect("sign_out", {}, 204, bearer=ann)
expect("get_account", {}, 401, bearer=ann)

with urllib.request.urlopen(url + "/openapi.json", timeout=60) as response:
    described = {path[1:] for path, item in json.load(response)["paths"].items() if "post" in item} - {"ingest/{project}"}
missing = described - set(done)
assert not missing, missing
print(json.dumps({"operations": len(described)}))

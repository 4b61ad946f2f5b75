"""A scheduler of your own in 60 lines of Python, with nothing but its standard library.

It pushes what is pending, reports its hosts and obeys drains; Bellows gets the machines and gives them back.
"""
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

SERVER = os.environ.get("BELLOWS_SERVER", "http://127.0.0.1:7070")
TOKEN = os.environ.get("BELLOWS_TOKEN")
HOST_CPU = 4

count = int(sys.argv[1]) if len(sys.argv) > 1 else 6
pending = [{"id": f"task-{n}", "cpu": 2, "seconds": 1 + n % 3} for n in range(count)]
running = {}  # (slice, host index) -> [(task, process)]
cordoned = set()  # slices that Bellows asked us to empty


def call(method, body):
    headers = {"content-type": "application/json"}
    if TOKEN:
        headers["authorization"] = f"Bearer {TOKEN}"
    request = urllib.request.Request(
        f"{SERVER}/bellows.v1.AutoscalerService/{method}", json.dumps(body).encode(), headers
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        raise OSError(f"{method}: {json.load(error).get('message')}") from None


def step():
    for key, jobs in running.items():
        for task, process in [job for job in jobs if job[1].poll() is not None]:
            jobs.remove((task, process))
            print(f"{task['id']} is done", flush=True)
    reports = []
    for piece in call("ListSlices", {"statuses": ["ready", "draining"], "pageSize": 1000}).get("slices", []):
        for host in piece.get("hosts", []):
            index = host.get("index", 0)
            jobs = running.setdefault((piece["id"], index), [])
            free = HOST_CPU - sum(task["cpu"] for task, _ in jobs)
            while pending and piece["status"] == "ready" and piece["id"] not in cordoned and pending[0]["cpu"] <= free:
                task = pending.pop(0)
                free -= task["cpu"]
                print(f"{task['id']} starts", flush=True)
                jobs.append((task, subprocess.Popen(["sleep", str(task["seconds"])])))
            drain = "drained" if piece["id"] in cordoned and not jobs else ""
            room = {"cpu": free, "memory": 2**33}
            reports.append({"sliceId": piece["id"], "hostIndex": index, "free": room, "busy": bool(jobs), "drain": drain})
    for order in call("ReportHosts", {"reports": reports}).get("orders", []):
        (cordoned.add if order["order"] == "drain" else cordoned.discard)(order["sliceId"])
    entries = [{"id": t["id"], "single": {"resources": {"cpu": t["cpu"], "memory": 2**30}}} for t in pending]
    push = {"source": "own-scheduler", "generation": int(time.time() * 1000), "entries": entries, "ttl": "60s"}
    call("PushDemand", push)
    return call("ListSlices", {}).get("totalCount", 0)


left = 1
while pending or any(running.values()) or left:
    try:
        left = step()
    except OSError as error:  # a controller that restarts is no reason to stop
        print(error, file=sys.stderr)
    time.sleep(0.25)
print("all tasks are done, no slice is left")

"""AWS's interface on loopback, by moto, for the test of aws-up.yml and aws-down.yml.

    moto_aws.py [--refuse INSTANCE_TYPE]

Prints its port, and serves until its standard input closes. moto knows no placement
groups, so their three calls are added here, with the rule that one in use cannot be
deleted. A type that is refused is above the account's limit, as large ones are in a new
account.
"""
import argparse
import sys
import threading

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

groups = {}


class InUse(ServiceException):
    code = "InvalidPlacementGroup.InUse"


class Unknown(ServiceException):
    code = "InvalidPlacementGroup.Unknown"


class AboveLimit(ServiceException):
    code = "VcpuLimitExceeded"


def create_placement_group(self):
    name = self._get_param("GroupName")
    tags = self._parse_tag_specification("placement-group").get("placement-group", {})
    groups[name] = {
        "GroupName": name, "GroupId": "pg-" + "0" * 17, "State": "available", "Strategy": self._get_param("Strategy"),
        "Tags": [{"Key": k, "Value": v} for k, v in tags.items()],
    }
    return ActionResult({"PlacementGroup": groups[name]})


def describe_placement_groups(self):
    wanted = self._filters_from_querystring().get("group-name", list(groups))
    return ActionResult({"PlacementGroups": [g for name, g in groups.items() if name in wanted]})


def delete_placement_group(self):
    name = self._get_param("GroupName")
    if name not in groups:
        raise Unknown(f"The Placement Group '{name}' is unknown.")
    if any(i.state != "terminated" for i in self.ec2_backend.all_instances()):
        raise InUse(f"The placement group '{name}' is in use and may not be deleted.")
    del groups[name]
    return ActionResult({})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--refuse", default="")
    refused = parser.parse_args().refuse
    run_instances = EC2Response.run_instances

    def run(self):
        if self._get_param("InstanceType") == refused:
            raise AboveLimit(f"You have requested more vCPU capacity than your limit allows for {refused}.")
        return run_instances(self)

    EC2Response.run_instances = run
    for call in create_placement_group, describe_placement_groups, delete_placement_group:
        setattr(EC2Response, call.__name__, call)
    server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


main()

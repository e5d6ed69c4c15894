#!/usr/bin/env bats
# aws-up.yml and aws-down.yml against moto, on loopback. Placement groups, which moto does
# not know, are added by moto_aws.py.

setup_file() {
  cd "$BATS_TEST_DIRNAME/../.." || exit
  export AWS_ACCESS_KEY_ID=made-up AWS_SECRET_ACCESS_KEY=made-up AWS_EC2_METADATA_DISABLED=true AWS_DEFAULT_REGION=us-east-1
  unset AWS_PROFILE AWS_SESSION_TOKEN
  mkfifo "$BATS_FILE_TMPDIR/hold"
  .tools/moto/bin/python test/fleet/moto_aws.py --refuse c6i.8xlarge <"$BATS_FILE_TMPDIR/hold" >"$BATS_FILE_TMPDIR/port" 2>"$BATS_FILE_TMPDIR/moto.log" 3>&- &
  exec 9>"$BATS_FILE_TMPDIR/hold"
  for _ in $(seq 300); do [ -s "$BATS_FILE_TMPDIR/port" ] && break; sleep 0.1; done
  AWS_ENDPOINT_URL="http://127.0.0.1:$(cat "$BATS_FILE_TMPDIR/port")"
  export AWS_ENDPOINT_URL
}
teardown_file() { exec 9>&-; }
setup() { cd "$BATS_TEST_DIRNAME/../.." || exit; state=$BATS_FILE_TMPDIR/state; }

# moto has no image of Debian's, and nobody answers SSH at the addresses that it makes up.
up() { make -s fleet-aws-up "$@" ARGS="-e state=$state -e controller_address=192.0.2.1 -e image_id=ami-12c6146b -e wait_for_ssh=false ${more-}"; }
down() { make -s fleet-aws-down ARGS="-e state=$state"; }
# asks prints what AWS has, by a line of Python over its answer.
asks() {
  .tools/ansible/bin/python - "$1" <<'PYTHON'
import base64, boto3, sys
ec2 = boto3.client("ec2")
alive = [i for r in ec2.describe_instances()["Reservations"] for i in r["Instances"] if i["State"]["Name"] != "terminated"]
def of(i, what, key="Value"):
    return ec2.describe_instance_attribute(InstanceId=i["InstanceId"], Attribute=what)[what[0].upper() + what[1:]][key]
print(eval(sys.argv[1]))
PYTHON
}
things='[len(alive), len(ec2.describe_key_pairs()["KeyPairs"]), len(ec2.describe_placement_groups()["PlacementGroups"]), len([g for g in ec2.describe_security_groups()["SecurityGroups"] if g["GroupName"] != "default"]), len(ec2.describe_volumes()["Volumes"])]'

@test "without a confirmed price nothing is made, and the price is said" {
  run up SHAPE=05 CLIENTS=3
  [ "$status" -ne 0 ]
  [[ $output == *'USD 24.01 an hour: 1 x c8i.32xlarge and 3 x c8i.32xlarge in us-east-1'* ]]
  [[ $output == *"add ARGS='-e confirm_cost_usd_per_hour=24.01'"* ]]
  more='-e confirm_cost_usd_per_hour=12.00' run up SHAPE=05 CLIENTS=3
  [ "$status" -ne 0 ]
  [ "$(asks "$things")" = '[0, 0, 0, 0, 0]' ]
  [ ! -e "$state" ]
}

@test "a shape or a region that is not known is refused by name" {
  run up SHAPE=99
  [ "$status" -ne 0 ]
  [[ $output == *'say whose machines: SHAPE=02, 03'* ]]
  more='-e region=eu-west-1' run up SHAPE=05
  [ "$status" -ne 0 ]
  [[ $output == *'no prices of region eu-west-1'* ]]
}

@test "a fleet is made, limited in time, closed to all but SSH, and removed to the last disk" {
  more='-e confirm_cost_usd_per_hour=24.01 -e minutes=45' run up SHAPE=05 CLIENTS=3
  [ "$status" -eq 0 ]
  [ "$(asks "$things")" = '[4, 1, 1, 1, 4]' ]
  [ "$(asks '{of(i, "instanceInitiatedShutdownBehavior") for i in alive}')" = "{'terminate'}" ]
  [ "$(asks '{"+45" in base64.b64decode(of(i, "userData")).decode() for i in alive}')" = '{True}' ]
  [ "$(asks '{i["SubnetId"] for i in alive} == {alive[0]["SubnetId"]}')" = True ]
  run asks 'sorted((p["IpProtocol"], [r["CidrIp"] for r in p["IpRanges"]], len(p["UserIdGroupPairs"])) for p in ec2.describe_security_groups(GroupNames=["line-rate"])["SecurityGroups"][0]["IpPermissions"])'
  [ "$output" = "[('-1', [], 1), ('tcp', ['192.0.2.1/32'], 0)]" ] || { echo "$output"; false; }

  # The inventory is one that Ansible reads, and its hosts prove who they are.
  run .tools/ansible/bin/ansible-inventory -i "$state/inventory.yml" --graph
  [ "$status" -eq 0 ]
  [ "$(grep -c '|--client-' <<<"$output")" -eq 3 ]
  [ "$(grep -c '|--server-' <<<"$output")" -eq 1 ]
  [ "$(wc -l <"$state/known_hosts")" -eq 4 ]
  grep -q "$(cut -d ' ' -f 2 "$state/host_key.pub")" "$state/known_hosts"
  [ "$(stat -c %a "$state")" = 700 ]

  # Once more changes nothing.
  more='-e confirm_cost_usd_per_hour=24.01 -e minutes=45' run up SHAPE=05 CLIENTS=3
  [[ $output == *changed=0* ]]

  run down
  [ "$status" -eq 0 ]
  [[ $output == *'nothing of fleet line-rate is left'* ]]
  [ "$(asks "$things")" = '[0, 0, 0, 0, 0]' ]
  [ ! -e "$state" ]
}

@test "a fleet that broke off while it was made is removed as well" {
  more='-e confirm_cost_usd_per_hour=1.71' run up SHAPE=06
  [ "$status" -ne 0 ]
  [[ $output == *VcpuLimitExceeded* ]]
  [ "$(asks "$things")" = '[1, 1, 1, 1, 1]' ]
  run down
  [ "$status" -eq 0 ]
  [ "$(asks "$things")" = '[0, 0, 0, 0, 0]' ]
}

@test "a disk that no instance has is found by its mark" {
  more='-e confirm_cost_usd_per_hour=1.71' run up SHAPE=06
  # A disk with the mark that no instance of the fleet has.
  asks 'ec2.create_volume(AvailabilityZone="us-east-1a", Size=1, SnapshotId=ec2.create_snapshot(VolumeId=ec2.describe_volumes()["Volumes"][0]["VolumeId"])["SnapshotId"], TagSpecifications=[{"ResourceType": "volume", "Tags": [{"Key": "line-rate-fleet", "Value": "line-rate"}]}])' >/dev/null
  run down
  [ "$status" -eq 0 ]
  [ "$(asks "$things")" = '[0, 0, 0, 0, 0]' ]
}

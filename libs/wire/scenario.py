"""Mirrors the what-ifs of `solver/v1/solver.proto`."""

from typing import assert_never

from joiner.solver.v1 import solver_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.pod import Target
from libs.domain.price_change import LEAST_DELTA_PPM, MOST_DELTA_PPM
from libs.domain.reason import TargetKind
from libs.domain.scenario import (
    AddedPod,
    AddNodes,
    AddPods,
    CordonNodes,
    Edit,
    EditOfferings,
    PodMove,
    PutNodePool,
    PutOverlay,
    RemoveNodePool,
    RemoveNodes,
    RemoveOverlay,
    ScaleOwner,
    Scenario,
    ScenarioAnswer,
    ScenarioDiff,
)
from libs.wire.field import at, each, require, saturated, within
from libs.wire.nodepool import decode_nodepool, encode_nodepool
from libs.wire.pod import decode_pod_shape, encode_pod_shape
from libs.wire.solution import decode_solution, write_solution
from libs.wire.workload import decode_node_overlay, encode_node_overlay


def decode_scenario(message: pb.Scenario) -> Scenario:
    """Return the scenario, edits in order."""
    return Scenario(name=message.name, edits=each("edits", message.edits, decode_edit))


def encode_scenario(scenario: Scenario) -> pb.Scenario:
    """Return the message."""
    return pb.Scenario(name=scenario.name, edits=map(encode_edit, scenario.edits))


def decode_edit(message: pb.Edit) -> Edit:
    """Return the edit."""
    match message.WhichOneof("edit"):
        case "remove_nodes":
            return RemoveNodes(names=tuple(message.remove_nodes.names))
        case "cordon_nodes":
            return CordonNodes(names=tuple(message.cordon_nodes.names))
        case "add_nodes":
            return at("add_nodes", message.add_nodes, _decode_add_nodes)
        case "add_pods":
            return at("add_pods", message.add_pods, _decode_add_pods)
        case "scale_owner":
            return at("scale_owner", message.scale_owner, _decode_scale_owner)
        case _:
            return _decode_put_or_remove(message)


def encode_edit(edit: Edit) -> pb.Edit:
    """Return the message."""
    match edit:
        case RemoveNodes(names=names):
            return pb.Edit(remove_nodes=pb.NodeNames(names=names))
        case CordonNodes(names=names):
            return pb.Edit(cordon_nodes=pb.NodeNames(names=names))
        case AddNodes():
            return pb.Edit(add_nodes=_encode_add_nodes(edit))
        case AddPods(shape=shape, count=count):
            return pb.Edit(add_pods=pb.AddPods(shape=encode_pod_shape(shape), count=count))
        case ScaleOwner():
            return pb.Edit(scale_owner=_encode_scale_owner(edit))
        case EditOfferings():
            return pb.Edit(offerings=_encode_offering_edit(edit))
        case _:
            return _encode_put_or_remove(edit)


def decode_scenario_answer(message: pb.SimulateResponse) -> ScenarioAnswer:
    """Return the answer to one scenario."""
    require(message, "response")
    return ScenarioAnswer(
        scenario=message.scenario,
        position=within("position", message.position, 0),
        solution=at("response", message.response, decode_solution),
        diff=at("diff", message.diff, _decode_diff),
    )


def encode_scenario_answer(answer: ScenarioAnswer) -> pb.SimulateResponse:
    """Return the message."""
    message = pb.SimulateResponse(
        scenario=answer.scenario,
        position=answer.position,
        diff=_encode_diff(answer.diff),
        cost_delta_nanos_per_hour=saturated(answer.diff.cost_delta_nanos_per_hour),
    )
    write_solution(message.response, answer.solution)
    return message


def _decode_diff(message: pb.ScenarioDiff) -> ScenarioDiff:
    return ScenarioDiff(
        removed_nodes=tuple(message.removed_nodes),
        added_nodes=tuple(message.added_nodes),
        added_pods=tuple(
            AddedPod(uid=one.uid, namespace=one.namespace, name=one.name)
            for one in message.added_pods
        ),
        removed_pods=tuple(message.removed_pods),
        moves=each("moves", message.moves, _decode_move),
        stranded_pods=tuple(message.stranded_pods),
        cost_before_nanos_per_hour=within(
            "cost_before_nanos_per_hour", message.cost_before_nanos_per_hour, 0
        ),
        cost_after_nanos_per_hour=within(
            "cost_after_nanos_per_hour", message.cost_after_nanos_per_hour, 0
        ),
    )


def _encode_diff(diff: ScenarioDiff) -> pb.ScenarioDiff:
    return pb.ScenarioDiff(
        removed_nodes=diff.removed_nodes,
        added_nodes=diff.added_nodes,
        added_pods=(
            pb.AddedPod(uid=one.uid, namespace=one.namespace, name=one.name)
            for one in diff.added_pods
        ),
        removed_pods=diff.removed_pods,
        moves=map(_encode_move, diff.moves),
        stranded_pods=diff.stranded_pods,
        cost_before_nanos_per_hour=saturated(diff.cost_before_nanos_per_hour),
        cost_after_nanos_per_hour=saturated(diff.cost_after_nanos_per_hour),
    )


def _decode_move(message: pb.PodMove) -> PodMove:
    to: Target | int
    match message.WhichOneof("to"):
        case "node":
            to = Target(TargetKind.NODE, message.node)
        case "nodeclaim":
            to = Target(TargetKind.NODECLAIM, message.nodeclaim)
        case "planned":
            to = within("planned", message.planned, 0)
        case _:
            raise InvalidRequest("one of node, nodeclaim and planned is required", field="to")
    return PodMove(pod_uids=tuple(message.pod_uids), from_node=message.from_node, to=to)


def _encode_move(move: PodMove) -> pb.PodMove:
    message = pb.PodMove(pod_uids=move.pod_uids, from_node=move.from_node)
    match move.to:
        case int(planned):
            message.planned = planned
        case Target(kind=TargetKind.NODECLAIM, name=name):
            message.nodeclaim = name
        case Target(name=name):
            message.node = name
    return message


def _decode_put_or_remove(message: pb.Edit) -> Edit:
    match message.WhichOneof("edit"):
        case "put_nodepool":
            return PutNodePool(nodepool=at("put_nodepool", message.put_nodepool, decode_nodepool))
        case "remove_nodepool":
            return RemoveNodePool(name=message.remove_nodepool)
        case "put_overlay":
            return PutOverlay(overlay=at("put_overlay", message.put_overlay, decode_node_overlay))
        case "remove_overlay":
            return RemoveOverlay(name=message.remove_overlay)
        case "offerings":
            return at("offerings", message.offerings, _decode_offering_edit)
        case _:
            raise InvalidRequest("is required", field="edit")


def _encode_put_or_remove(
    edit: PutNodePool | RemoveNodePool | PutOverlay | RemoveOverlay,
) -> pb.Edit:
    match edit:
        case PutNodePool(nodepool=nodepool):
            return pb.Edit(put_nodepool=encode_nodepool(nodepool))
        case RemoveNodePool(name=name):
            return pb.Edit(remove_nodepool=name)
        case PutOverlay(overlay=overlay):
            return pb.Edit(put_overlay=encode_node_overlay(overlay))
        case RemoveOverlay(name=name):
            return pb.Edit(remove_overlay=name)
        case _:
            assert_never(edit)


def _decode_add_nodes(message: pb.AddNodes) -> AddNodes:
    require(message, "nodepool", "instance_type", "zone", "capacity_type")
    return AddNodes(
        nodepool=message.nodepool,
        instance_type=message.instance_type,
        zone=message.zone,
        capacity_type=message.capacity_type,
        count=within("count", message.count, 1),
    )


def _encode_add_nodes(edit: AddNodes) -> pb.AddNodes:
    return pb.AddNodes(
        nodepool=edit.nodepool,
        instance_type=edit.instance_type,
        zone=edit.zone,
        capacity_type=edit.capacity_type,
        count=edit.count,
    )


def _decode_add_pods(message: pb.AddPods) -> AddPods:
    require(message, "shape")
    return AddPods(
        shape=at("shape", message.shape, decode_pod_shape),
        count=within("count", message.count, 1),
    )


def _decode_scale_owner(message: pb.ScaleOwner) -> ScaleOwner:
    require(message, "namespace", "name")
    return ScaleOwner(
        namespace=message.namespace,
        kind=message.kind,
        name=message.name,
        replicas=within("replicas", message.replicas, 0),
    )


def _encode_scale_owner(edit: ScaleOwner) -> pb.ScaleOwner:
    return pb.ScaleOwner(
        namespace=edit.namespace, kind=edit.kind, name=edit.name, replicas=edit.replicas
    )


def _decode_offering_edit(message: pb.OfferingEdit) -> EditOfferings:
    change = message.WhichOneof("change")
    if change is None:
        raise InvalidRequest("either available or price_delta_ppm is required", field="change")
    return EditOfferings(
        zone=message.zone,
        capacity_type=message.capacity_type,
        instance_type=message.instance_type,
        available=message.available if change == "available" else None,
        price_delta_ppm=(
            within("price_delta_ppm", message.price_delta_ppm, LEAST_DELTA_PPM, MOST_DELTA_PPM)
            if change == "price_delta_ppm"
            else None
        ),
    )


def _encode_offering_edit(edit: EditOfferings) -> pb.OfferingEdit:
    message = pb.OfferingEdit(
        zone=edit.zone, capacity_type=edit.capacity_type, instance_type=edit.instance_type
    )
    if edit.available is not None:
        message.available = edit.available
    elif edit.price_delta_ppm is not None:
        message.price_delta_ppm = edit.price_delta_ppm
    return message

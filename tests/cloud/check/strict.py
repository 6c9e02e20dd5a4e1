"""Holds answers to the service's model: each element and key is one that the model has, and each value of a list of words is among them.

The SDK passes over what it does not know, so that a misspelt element would read as one that is missing.
"""

import json
import xml.etree.ElementTree


class StrangeAnswer(AssertionError):
    """An answer that the service does not give."""


def watch(client):
    """From now on every answer of a client is held to the model of its service."""
    model = client.meta.service_model

    def answered(event_name, response_dict, **_):
        if response_dict is not None and response_dict["status_code"] < 300:
            hold(model, event_name.rpartition(".")[2], response_dict)

    client.meta.events.register("response-received", answered)


def hold(model, operation, response):
    """Fails for an answer that the model of an operation does not have."""
    own = model.operation_model(operation)
    if own.output_shape is None:
        return
    if model.protocol in ("ec2", "query"):
        root = xml.etree.ElementTree.fromstring(response["body"])
        strange = list(of_xml(result(root, own.output_shape), own.output_shape, operation))
    else:
        strange = list(of_json(json.loads(response["body"]), own.output_shape, operation))
    if strange:
        raise StrangeAnswer(f"{model.service_name}: {'; '.join(sorted(set(strange))[:5])}")


def result(root, shape):
    """The element of an answer that has its members."""
    wrapper = shape.serialization.get("resultWrapper")
    found = [child for child in root if local(child) == wrapper]
    return found[0] if wrapper and found else root


def local(node):
    """Name of an element without its namespace."""
    return node.tag.rpartition("}")[2]


def of_xml(node, shape, path):
    """What an element has that its shape has not."""
    if shape.type_name == "structure":
        members = {member.serialization.get("name", name): member for name, member in shape.members.items()}
        for child in node:
            name = local(child)
            if name in members:
                yield from of_xml(child, members[name], f"{path}.{name}")
            elif name not in ("requestId", "ResponseMetadata"):
                yield f"{path} has no {name}"
    elif shape.type_name == "list":
        item = shape.member.serialization.get("name", "member")
        for child in node:
            if local(child) == item:
                yield from of_xml(child, shape.member, path)
            else:
                yield f"{path} is a list of {item}, not of {local(child)}"
    else:
        yield from of_value(node.text or "", shape, path)


def of_json(value, shape, path):
    """What a value has that its shape has not."""
    if shape.type_name == "structure":
        members = {member.serialization.get("name", name): member for name, member in shape.members.items()}
        for name, own in value.items():
            if name in members:
                yield from of_json(own, members[name], f"{path}.{name}")
            else:
                yield f"{path} has no {name}"
    elif shape.type_name == "list":
        for own in value:
            yield from of_json(own, shape.member, path)
    elif shape.type_name == "map":
        for name, own in value.items():
            yield from of_json(own, shape.value, f"{path}.{name}")
    else:
        yield from of_value(value, shape, path)


def of_value(value, shape, path):
    """A word that is not among those of its shape, or a value of another kind."""
    words = shape.metadata.get("enum")
    if words and value not in words:
        yield f"{path} is {value!r}, which is not among {', '.join(words[:3])}..."
    if shape.type_name == "boolean" and str(value).lower() not in ("true", "false"):
        yield f"{path} is {value!r}, which is neither true nor false"

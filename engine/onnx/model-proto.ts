/**
 * ONNX models as bytes. Field numbers are those of onnx.proto3 (IR version 10, operator set 21 plus ONNX Runtime's own
 * com.microsoft set). Weights may stay in their files: a tensor then says file name, offset and length.
 */
import { type ElementType, elementTypes, type NumericArray } from "./element-type.ts";
import { MessageWriter } from "./protobuf.ts";
import type { Shape } from "./shape.ts";

/** An integer, a float (which must say so: 1 is written like an integer), integers, or text. */
export type Attribute = number | { readonly float: number } | readonly number[] | string;

export interface ProtoNode {
  readonly name: string;
  readonly operator: string;
  /** "" = ONNX's own operators. */
  readonly domain: "" | "com.microsoft";
  /** "" = an optional input left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** Bytes in another file. Paths are relative to the folder that the session is told. */
export interface ExternalData {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

export interface ProtoTensor {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly source: { readonly data: NumericArray } | { readonly external: ExternalData };
}

export interface ProtoValue {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: Shape;
}

export interface ModelProto {
  readonly nodes: readonly ProtoNode[];
  readonly initializers: readonly ProtoTensor[];
  readonly inputs: readonly ProtoValue[];
  readonly outputs: readonly ProtoValue[];
}

const intermediateRepresentation = 10;
const operatorSet = 21;

export function writeModel(model: ModelProto): Uint8Array {
  const graph = new MessageWriter();
  for (const node of model.nodes) graph.message(1, writeNode(node));
  graph.text(2, "graph");
  for (const tensor of model.initializers) graph.message(5, writeTensor(tensor));
  for (const input of model.inputs) graph.message(11, writeValue(input));
  for (const output of model.outputs) graph.message(12, writeValue(output));
  return new MessageWriter()
    .integer(1, intermediateRepresentation)
    .text(2, "openforge")
    .message(7, graph)
    .message(8, new MessageWriter().text(1, "").integer(2, operatorSet))
    .message(8, new MessageWriter().text(1, "com.microsoft").integer(2, 1))
    .finish();
}

function writeNode(node: ProtoNode): MessageWriter {
  const message = new MessageWriter();
  for (const input of node.inputs) message.text(1, input);
  for (const output of node.outputs) message.text(2, output);
  message.text(3, node.name).text(4, node.operator);
  for (const [name, value] of Object.entries(node.attributes)) message.message(5, writeAttribute(name, value));
  if (node.domain !== "") message.text(7, node.domain);
  return message;
}

/** Attribute types: 1 float, 2 integer, 3 text, 7 integers. */
function writeAttribute(name: string, value: Attribute): MessageWriter {
  const message = new MessageWriter().text(1, name);
  if (typeof value === "number") return message.integer(3, value).integer(20, 2);
  if (typeof value === "string") return message.text(4, value).integer(20, 3);
  if ("float" in value) return message.float(2, value.float).integer(20, 1);
  for (const item of value) message.integer(8, item);
  return message.integer(20, 7);
}

function writeTensor(tensor: ProtoTensor): MessageWriter {
  const message = new MessageWriter();
  for (const size of tensor.shape) message.integer(1, size);
  message.integer(2, elementTypes[tensor.type]).text(8, tensor.name);
  if ("data" in tensor.source) {
    const { buffer, byteOffset, byteLength } = tensor.source.data;
    return message.bytes(9, new Uint8Array(buffer, byteOffset, byteLength));
  }
  const { file, offset, length } = tensor.source.external;
  for (const [key, value] of Object.entries({ location: file, offset: String(offset), length: String(length) })) {
    message.message(13, new MessageWriter().text(1, key).text(2, value));
  }
  return message.integer(14, 1);
}

function writeValue(value: ProtoValue): MessageWriter {
  const shape = new MessageWriter();
  for (const size of value.shape)
    shape.message(1, typeof size === "number" ? new MessageWriter().integer(1, size) : new MessageWriter().text(2, size));
  const type = new MessageWriter().integer(1, elementTypes[value.type]).message(2, shape);
  return new MessageWriter().text(1, value.name).message(2, new MessageWriter().message(1, type));
}

export { canonicalJson, compactJson, equivalenceKey } from "./canonical.ts";
export { parseJson } from "./read.ts";
export { JsonSlice, sliceJson } from "./slice.ts";
export { isJsonArray, isJsonObject, type JsonObject, JsonSyntaxError, type JsonValue } from "./value.ts";
export { hasLoneSurrogate, replaceLoneSurrogates } from "./well-formed.ts";
export { compareByCodePoint, dumpJson, floatText, type JsonWriteOptions } from "./write.ts";

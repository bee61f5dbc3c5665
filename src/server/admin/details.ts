import { copyJson, isJsonObject, type JsonObject } from "../../core/json.ts";

/** An object as the details of an entry: plain JSON, without what is undefined. */
export function toDetails(value: object): JsonObject {
  const copy = copyJson(JSON.parse(JSON.stringify(value)));
  return isJsonObject(copy) ? copy : {};
}

import { openApi } from "../../schema/openapi.ts";
import { rpcReference } from "../../schema/rpc-reference.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { FAVICON_PATH } from "../html/head.ts";
import { INLINE_STYLE_POLICY } from "../html/headers.ts";
import { sendJson, sendText } from "../http/send.ts";
import type { PublicAnswer } from "./public.ts";

/** Answers with the description of the operations for programs. */
export function openApiAnswer(version: string): PublicAnswer {
  const document = openApi(rpcSchema, version);
  return (response) => sendJson(response, 200, document);
}

/** Answers with the reference page of the operations. */
export function referenceAnswer(version: string): PublicAnswer {
  const page = rpcReference(rpcSchema, version, { path: "/", icon: FAVICON_PATH });
  return (response) => {
    response.setHeader("Content-Security-Policy", INLINE_STYLE_POLICY);
    sendText(response, 200, "text/html; charset=utf-8", page);
  };
}

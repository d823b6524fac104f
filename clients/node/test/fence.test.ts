import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { expressFence, fastifyFence, type FenceStore, grantFromEnv, MemoryFence } from "../src/fence/index.js";
import { currentGrant } from "../src/index.js";

type Serve = (store: FenceStore, optional?: boolean) => Promise<string>;

const servers: Record<string, Serve> = {
  express: async (store, optional) => {
    const app = express();
    app.use(expressFence(store, { optional }));
    app.post("/", (_req, res) => {
      setImmediate(() => void res.json(currentGrant() ?? {}));
    });
    const server = createServer(app as never);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  },
  fastify: async (store, optional) => {
    const app = fastify();
    app.addHook("onRequest", fastifyFence(store, { optional }));
    app.post("/", async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return currentGrant() ?? {};
    });
    onTestFinished(() => app.close());
    return `${await app.listen({ port: 0, host: "127.0.0.1" })}/`;
  },
};

describe.each(Object.entries(servers))("%s", (_, serve) => {
  const ask = async (url: string, headers: Record<string, string>) => {
    const answer = await fetch(url, { method: "POST", headers });
    const body = (await answer.json()) as Record<string, unknown>;
    if (answer.status !== 200) expect(answer.headers.get("content-type")).toBe("application/problem+json");
    return { ...body, status: answer.status };
  };
  const fenced = (token: string | number, resource = "schedule/a") => ({ "duly-fencing-token": String(token), "duly-fencing-resource": resource, "duly-occurrence": "a@1", "duly-attempt": "2" });

  test("an older token is refused, and what is admitted runs under its grant", async () => {
    const url = await serve(new MemoryFence());
    expect(await ask(url, fenced(4))).toEqual({ status: 200, token: 4, resource: "schedule/a", occurrence: "a@1", attempt: 2 });
    expect(await ask(url, fenced(5))).toMatchObject({ status: 200, token: 5 });
    expect(await ask(url, fenced(4))).toMatchObject({ status: 412, code: "stale_token", title: "Precondition Failed" });
    expect(await ask(url, fenced(4, "schedule/b"))).toMatchObject({ status: 200 });
  });

  test("what cannot be judged is refused", async () => {
    const url = await serve(new MemoryFence());
    expect(await ask(url, {})).toMatchObject({ status: 428, code: "invalid" });
    for (const token of ["1e3", "0", "-1", "x", "99999999999999999999"]) expect(await ask(url, fenced(token)), token).toMatchObject({ status: 400, code: "invalid" });
    expect(await ask(url, { "duly-fencing-token": "1" })).toMatchObject({ status: 400 });
    const failing = await serve({ raise: () => Promise.reject(new Error("password: hunter2")) });
    const refused = await ask(failing, fenced(1));
    expect(refused).toMatchObject({ status: 503, code: "unavailable" });
    expect(JSON.stringify(refused)).not.toContain("hunter2");
  });

  test("optional lets unfenced requests pass without a grant", async () => {
    const url = await serve(new MemoryFence(), true);
    expect(await ask(url, {})).toEqual({ status: 200 });
    expect(await ask(url, fenced("x"))).toMatchObject({ status: 400 });
  });
});

test("a command finds its grant in its environment", () => {
  expect(grantFromEnv({ DULY_FENCING_TOKEN: "7", DULY_FENCING_RESOURCE: "schedule/a", DULY_OCCURRENCE: "a@1", DULY_ATTEMPT: "3" })).toEqual({ token: 7, resource: "schedule/a", occurrence: "a@1", attempt: 3 });
  expect(grantFromEnv({})).toBeUndefined();
  expect(() => grantFromEnv({ DULY_FENCING_TOKEN: "7" })).toThrow("DULY_FENCING_RESOURCE");
});

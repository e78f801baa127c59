// A session of @modelcontextprotocol/sdk 1.x: connect, list, measure, recall, call an unknown tool.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';

const [target, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'sdk1', version: '1' });
const transport = command.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, env: process.env });
await client.connect(transport);

const names = (await client.listTools()).tools.map((tool) => tool.name);
assert.ok(names.includes('facts_measure_http'), `the tool is not listed: ${names}`);

const measured = { name: 'facts_measure_http', arguments: { project: 'clients', url: target } };
const answer = await client.callTool(measured);
assert.ok(!answer.isError && answer.structuredContent.ok === true, JSON.stringify(answer));

// Assert what was measured, find it, take it back, and read its history.
const ask = async (tool, given) => {
  const result = await client.callTool({ name: `facts_recall_${tool}`, arguments: { project: 'clients', ...given } });
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent;
};
const { observation_id } = answer.structuredContent;
const by = { observed_by: 'sdk1' };
const evidence = [{ type: 'observation', observation_id }];
const { claim_id } = await ask('assert', { statement: `seen in ${observation_id}`, evidence, ...by });
const found = await ask('query', { text: observation_id, ...by });
assert.deepEqual(found.claims.map((claim) => claim.claim_id), [claim_id]);
await ask('retract', { claim_id, reason: 'it was a trial' });
const { events } = await ask('history', { claim_id });
assert.deepEqual(events.map(({ event }) => event.type), ['asserted', 'retracted']);

const unknown = await client.callTool({ name: 'no_such_tool', arguments: {} }).then(
  (result) => (result.isError ? 'isError' : assert.fail('an unknown tool was answered as a success')),
  (error) => (error instanceof McpError ? error.code : assert.fail(error)),
);
console.log(`unknown tool: ${unknown}`);
await client.close();

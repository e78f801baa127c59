// A session of @modelcontextprotocol/client 2.x in one mode: connect, list, measure, recall, call an unknown tool.
import assert from 'node:assert/strict';
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

// mode is auto, legacy, or the revision to insist on
const [mode, target, command, ...args] = process.argv.slice(2);
const versionNegotiation = { mode: ['auto', 'legacy'].includes(mode) ? mode : { pin: mode } };
const client = new Client({ name: 'client2', version: '1' }, { versionNegotiation });
const transport = command.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' });
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
const by = { observed_by: 'client2' };
const evidence = [{ type: 'observation', observation_id }];
const { claim_id } = await ask('assert', { statement: `seen in ${observation_id}`, evidence, ...by });
const found = await ask('query', { text: observation_id, ...by });
assert.deepEqual(found.claims.map((claim) => claim.claim_id), [claim_id]);
await ask('retract', { claim_id, reason: 'it was a trial' });
const { events } = await ask('history', { claim_id });
assert.deepEqual(events.map(({ event }) => event.type), ['asserted', 'retracted']);

const unknown = await client.callTool({ name: 'no_such_tool', arguments: {} }).then(
  (result) => (result.isError ? 'isError' : assert.fail('an unknown tool was answered as a success')),
  (error) => (error instanceof ProtocolError ? error.code : assert.fail(error)),
);
console.log(`unknown tool: ${unknown}`);
await client.close();

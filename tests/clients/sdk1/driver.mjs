// A session of @modelcontextprotocol/sdk 1.x: connect, list, measure, call an unknown tool.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';

const [target, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'sdk1', version: '1' });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));

const names = (await client.listTools()).tools.map((tool) => tool.name);
assert.ok(names.includes('facts_measure_http'), `the tool is not listed: ${names}`);

const measured = { name: 'facts_measure_http', arguments: { project: 'clients', url: target } };
const answer = await client.callTool(measured);
assert.ok(!answer.isError && answer.structuredContent.ok === true, JSON.stringify(answer));

const unknown = await client.callTool({ name: 'no_such_tool', arguments: {} }).then(
  (result) => (result.isError ? 'isError' : assert.fail('an unknown tool was answered as a success')),
  (error) => (error instanceof McpError ? error.code : assert.fail(error)),
);
console.log(`unknown tool: ${unknown}`);
await client.close();

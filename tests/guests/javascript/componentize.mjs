// Makes a component of a ranking policy in JavaScript: node componentize.mjs TOOLS SOURCE WIT COMPONENT
//
// TOOLS is the folder that `npm ci` was run in, WIT the interface of policies. A policy has no clock, no chance and no way out, so
// that everything of the engine that would ask for one is left out; what is left imports plimsoll:policy/diag and nothing else.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [tools, sourcePath, witPath, to] = process.argv.slice(2).map((path) => resolve(path));
const encoder = `${tools}/node_modules/@bytecodealliance/componentize-js/src/componentize.js`;
const { componentize } = await import(pathToFileURL(encoder));
const { component } = await componentize({
  sourcePath,
  witPath,
  worldName: 'ranking-policy',
  disableFeatures: ['random', 'stdio', 'clocks', 'http', 'fetch-event'],
});
await writeFile(to, component);

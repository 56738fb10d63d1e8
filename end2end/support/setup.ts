// Starts what the tests look at: databases filled from recorded fixtures, and one Redrive that
// watches them all. Everything is stopped again at the end.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { provider } from './provider';

const fixtures = join(import.meta.dirname, '../../app/tests/fixtures');

/** Folders that become a PostgreSQL source each, under their own name. */
const RECORDED = ['article', 'policies', 'workers', 'operators', 'transitions'];

/** Copies of fixtures that a test may act on: the source, and the folder. `js` and `nojs` are projects. */
const COPIES = [
  ['ticked', 'article'],
  ['outcomes', 'article'],
  ['acted-js', 'transitions'],
  ['acted-nojs', 'transitions'],
];

/** Rows that are written down in this folder. */
const WRITTEN = ['hostile', 'hostile-js', 'hostile-nojs', 'spent', 'ties-js', 'ties-nojs'];

/** Sources with recorded claims; `js` and `nojs` are projects. */
const CLAIMS = ['claims-js', 'claims-nojs', 'bulk-js', 'bulk-nojs', 'claims-read'];

export interface Redrive {
  url: string;
  process: ChildProcess;
}

/** Starts `redrive` with these arguments, on a free port unless told, and waits until it says where it is. */
export async function redrive(
  args: string[],
  env: Record<string, string> = {},
  bind = '127.0.0.1:0',
): Promise<Redrive> {
  const binary = process.env.REDRIVE_BIN ?? '../target/debug/redrive';
  const child = spawn(binary, [...args, '--bind', bind, '--operator', 'ada'], {
    stdio: ['ignore', 'pipe', process.env.REDRIVE_LOG ? 'inherit' : 'ignore'],
    env: { ...process.env, ...env },
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /https?:\/\/\S+/.exec(line)?.[0];
    if (url) return { url: url.replace(/\/$/, ''), process: child };
  }
  throw new Error(`${binary} ended before it served anything`);
}

export async function stop(server: Redrive): Promise<void> {
  const ended = new Promise((resolve) => server.process.once('exit', resolve));
  server.process.kill('SIGTERM');
  await ended;
}

function postgres(): URL {
  const url = process.env.REDRIVE_TEST_POSTGRES;
  if (!url) throw new Error('REDRIVE_TEST_POSTGRES is not set: run server/tests/with-postgres.sh');
  return new URL(url);
}

export function sql(database: string, input: string): void {
  const url = postgres();
  url.pathname = `/${database}`;
  execFileSync('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-d', url.href], {
    input,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
}

/** What a query answers: a line per row, columns parted by `|`. */
export function query(database: string, text: string): string[] {
  const url = postgres();
  url.pathname = `/${database}`;
  const answer = execFileSync('psql', ['-qAt', '-v', 'ON_ERROR_STOP=1', '-d', url.href], { input: text });
  return answer.toString().trimEnd().split('\n');
}

/** The database of a source. */
export function databaseOf(source: string): string {
  return `e2e_${source.replaceAll('-', '_')}`;
}

/** A fresh database with Hangfire's tables, and a recorded fixture or other rows in it. */
export function database(name: string, rows: string): string {
  const fresh = databaseOf(name);
  sql('postgres', `SET client_min_messages = error; DROP DATABASE IF EXISTS ${fresh} WITH (FORCE);`);
  sql('postgres', `CREATE DATABASE ${fresh};`);
  const layout = readFileSync(join(fixtures, 'layout/v23.sql'), 'utf8');
  sql(fresh, `${layout}\nDELETE FROM hangfire.schema;\n${rows}`);
  const url = postgres();
  url.pathname = `/${fresh}`;
  return url.href;
}

export function recorded(folder: string): string {
  const file = folder === 'transitions' ? 'base.sql' : 'data.sql';
  return readFileSync(join(fixtures, folder, file), 'utf8');
}

/** The jobs that left claims in Sending, their claims, and some more of those. */
export function recordedClaims(): string {
  const file = (name: string) => readFileSync(join(fixtures, 'claims/stale', name), 'utf8');
  const more = readFileSync(join(import.meta.dirname, 'claims.sql'), 'utf8');
  return `${file('data.sql')}\n${file('outgoing-emails.sql')}\n${more}`;
}

/** How those claims are described; `at` is the provider's URL. */
function claimsTable(table: string, name: string, at: string): string {
  return `[[source.claims]]
name = "${name}"
table = "${table}"
key = "IdempotencyKey"
status = "Status"
claimed_at = "ClaimedAtUtc"
provider_id = "ProviderMessageId"
sending = 0
sent = 1
[[source.claims.keys]]
pattern = "invoice-email:{0}"
type = "InvoiceEmailJob"
[source.claims.provider]
url = "${at}/emails/{key}"
permanent = true
`;
}

/** Rows written down beside this file; `hostile-js` is one more copy of `hostile`. */
export function written(name: string): string {
  return readFileSync(join(import.meta.dirname, `${name.split('-')[0]}.sql`), 'utf8');
}

export default async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'redrive-e2e-'));
  const source = (name: string, rows: string, more = '') =>
    `[[source]]\nname = "${name}"\ndatabase = "${database(name, rows)}"\n${more}`;
  const config = join(folder, 'redrive.toml');
  const mail = await provider();
  const described = (name: string) =>
    claimsTable('OutgoingEmails', 'emails', mail.url) +
    (name === 'claims-read' ? claimsTable('OutgoingEmail', 'typo', mail.url) : '');
  const sources = [
    ...RECORDED.map((name) => source(name, recorded(name))),
    ...COPIES.map(([name, folder]) => source(name, recorded(folder))),
    source('locked', recorded('article'), 'environment = "prod"\nread_only = true\n'),
    ...CLAIMS.map((name) => source(name, recordedClaims(), described(name))),
    ...WRITTEN.map((name) => source(name, written(name), 'environment = "staging"\n')),
  ];
  writeFileSync(config, sources.join('\n'));

  const recordedServer = await redrive(['serve', '--config', config]);
  const demo = await redrive(['demo', '--file', join(folder, 'demo.db'), '--jobs', '400']);
  process.env.REDRIVE_URL = recordedServer.url;
  process.env.REDRIVE_DEMO_URL = demo.url;

  return async () => {
    await stop(recordedServer);
    await stop(demo);
    mail.close();
    rmSync(folder, { recursive: true });
  };
}

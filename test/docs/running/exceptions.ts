/** The commands of the documents that do not run here, or that do not end by themselves. */

/** `because`: why the command does not run here. `suite`: the file that runs it, and the words with which it does. */
export type Exception = { command: RegExp; because: string; suite?: readonly [file: string, words: string] }

export const EXCEPTIONS: readonly Exception[] = [
  {
    command: /^windfall demo|^npm run demo/,
    because: 'It simulates two years.',
    suite: ['test/demo/command.test.ts', "'demo'"],
  },
  {
    command: /^(?:windfall|\.\/windfall-\S+) install/,
    because: 'It installs a service.',
    suite: ['test/cli/install.test.ts', "'install'"],
  },
  {
    command: /^windfall uninstall/,
    because: 'It removes a service.',
    suite: ['test/cli/install.test.ts', "'uninstall'"],
  },
  {
    command: /^windfall upgrade/,
    because: 'It replaces a running service.',
    suite: ['test/faults/upgrade/upgrade.test.ts', 'machine.upgrade('],
  },
  {
    command: /^windfall connect(?! --help)/,
    because: 'It asks the real App Store Connect.',
    suite: ['test/cli/connect/connect.test.ts', 'connect('],
  },
  {
    command: /^windfall webhooks retry --delivery/,
    because: 'It needs a delivery that waits for its next attempt.',
    suite: ['test/cli/webhooks.test.ts', "'--delivery'"],
  },
  {
    command: /^windfall reload/,
    because: 'It needs a server that read its configuration from this file.',
    suite: ['test/cli/control.test.ts', "'reload'"],
  },
  {
    command: /^windfall (?:restore s3:|backup list --remote)/,
    because: 'It needs a bucket.',
    suite: ['test/cli/backup/offsite.test.ts', "'--remote'"],
  },
  {
    command: /^export WINDFALL_BACKUP_|^read -rs WINDFALL_BACKUP_/,
    because: 'It sets variables of the shell.',
    suite: ['test/offsite/bucket_server.ts', 'WINDFALL_BACKUP_SECRET_ACCESS_KEY'],
  },
  { command: /^install -m 600 /, because: 'It waits for a secret.' },
  {
    command: /^litestream |^GOBIN=\S+ go install .*litestream/,
    because: 'It needs Litestream.',
    suite: ['test/faults/litestream/documented.test.ts', 'litestream('],
  },
  {
    command: /^docker build/,
    because: 'It needs Docker. Each step of the Dockerfile runs in a bare Debian.',
    suite: ['test/binary/installed.test.ts', 'Dockerfile'],
  },
  { command: /^docker compose/, because: 'It needs Docker.' },
  { command: /^systemctl /, because: 'It changes the services of this machine.' },
  { command: /^supabase /, because: 'It needs an account of Supabase.' },
  {
    command: /node server\.mjs$/,
    because: 'It serves code of the page.',
    suite: ['test/docs/receivers.test.ts', "'server.mjs'"],
  },
  { command: /^npm install standardwebhooks/, because: 'It downloads a package.' },
  {
    command: /^npm run build:binary/,
    because: 'It builds an executable of 120 MB.',
    suite: ['package.json', '"pretest:binary": "node build.mjs && node tools/binary/build.ts'],
  },
  { command: /^cp dist\/binary\/windfall/, because: 'It copies what npm run build:binary built.' },
  {
    command: /^npm run dev/,
    because: 'It rebuilds this folder.',
    suite: ['test/tools/dev.fault.ts', 'tools/dev/dev.ts'],
  },
  { command: /^npm test|^npm run test:fast/, because: 'It runs the tests.', suite: ['.ci/run', 'npm test'] },
  { command: /^npm run bench/, because: 'It measures for minutes.', suite: ['.ci/run', 'test/bench/run.ts'] },
  {
    command: /^npm run docs/,
    because: 'It writes the documents of this folder.',
    suite: ['test/docs/generated.test.ts', 'npm run docs'],
  },
]

/** The programs that run here. A command of any other program needs an exception. */
export const RUNNABLE =
  /^(?:[A-Z_]+=\S+ )*(?:windfall(?:\.previous)?|\.\/windfall-\S+|curl|npm start|npm run -s windfall|chmod|head|install -d|mkdir|mv|sha256sum|tar|zstd|\(umask 077 && openssl)(?= |$)/

/** `page` and `language`: blocks that are no commands. `suite`: the file that runs them, and the words with which it does. */
type Others = { page: string; language: string; suite: readonly [file: string, words: string] }

const RECEIVERS = ['test/docs/receivers.test.ts', 'printedCode('] as const
const WIDGETS = ['test/alerts/widgets/documents.test.ts', 'docs/widgets.md'] as const
const RAW_HTTP = ['test/docs/raw_http.test.ts', 'docs/sdk/http.md'] as const
const LITESTREAM = ['test/faults/litestream/documented.test.ts', 'writeConfig('] as const

/** The configuration of other programs, and code. TOML, CSV and SQL of every page run by themselves. */
export const OTHERS: readonly Others[] = [
  { page: 'README.md', language: 'caddy', suite: ['test/deploy/proxies.test.ts', "blocksOf('README.md')"] },
  { page: 'docs/widgets.md', language: 'yaml', suite: WIDGETS },
  { page: 'docs/widgets.md', language: 'markdown', suite: WIDGETS },
  { page: 'docs/webhooks.md', language: 'js', suite: RECEIVERS },
  { page: 'docs/webhooks.md', language: 'ts', suite: RECEIVERS },
  { page: 'docs/webhooks.md', language: 'swift', suite: RECEIVERS },
  { page: 'docs/sdk/http.md', language: 'http', suite: RAW_HTTP },
  { page: 'docs/sdk/http.md', language: 'swift', suite: RAW_HTTP },
  { page: 'docs/sdk/http.md', language: 'kotlin', suite: RAW_HTTP },
  { page: 'docs/litestream.md', language: 'yaml', suite: LITESTREAM },
  {
    page: 'docs/litestream.md',
    language: 'ini',
    suite: ['test/faults/litestream/documented.test.ts', 'unit()'],
  },
  {
    page: 'docs/security.md',
    language: 'ini',
    suite: ['test/api/owner/sessions.test.ts', 'docs/security.md'],
  },
  { page: 'docs/install.md', language: 'ini', suite: ['test/cli/install.test.ts', 'docs/install.md'] },
  {
    page: 'docs/monitoring.md',
    language: 'yaml',
    suite: ['test/api/monitoring/monitoring.test.ts', "'check', 'config'"],
  },
]

/** A command that runs until Ctrl-C. `until`: what it prints; `stir`: what it prints before it waits for an event. */
type Serving = { command: RegExp; until: RegExp; stir?: RegExp }

export const SERVING: readonly Serving[] = [
  { command: /^(?:windfall|\.\/windfall-\S+) serve|npm start$/, until: /"serving"/ },
  { command: /windfall webhooks listen/, until: /^Listening on /m },
  { command: /^windfall webhooks log --follow/, until: /./ },
  { command: /^curl -N /, until: /customer\.identified/, stir: /^HTTP.* 200/ },
]

/** Commands of a reader who has no instance yet, or has stopped it. They use the folder of the page. */
export const ALONE =
  /^(?:windfall (?:init|check|serve|restore|config dump)|windfall\.previous|\.\/windfall-|npm start|WINDFALL_SERVER_PORT=\S+ npm start)/

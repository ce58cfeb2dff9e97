/** What the help of each command shows besides its options. */

type Help = {
  /** Invocations with names and files in the place of your own. */
  examples: readonly [string, string, string?]
  /** Exit codes that differ from the common ones. */
  exits?: Readonly<Record<number, string>>
  /** Why the command has no `--json`. */
  noJson?: string
}

/** The exit codes of every command. */
export const EXIT_CODES: Readonly<Record<number, string>> = {
  0: 'Success',
  1: 'Failure; the message says why',
  2: 'Wrong usage, or an invalid configuration',
}

/** The groups of the list of commands, in its order. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Run: ['serve', 'reload', 'demo', 'health'],
  Install: ['install', 'upgrade', 'uninstall'],
  'Set up': ['init', 'check', 'config', 'connect', 'doctor', 'support', 'apps'],
  'People and keys': ['owner', 'keys', 'tokens', 'devices', 'users', 'links', 'forget'],
  Data: ['import', 'reconcile', 'refused', 'rebuild', 'verify', 'export', 'sql', 'jobs', 'rates'],
  Backups: ['backup', 'restore'],
  'Alerts and webhooks': ['alerts', 'webhooks', 'outgoing'],
  About: ['completion', 'licenses'],
}

/** The help of each command, by its words. */
export const HELP: Readonly<Record<string, Help>> = {
  serve: {
    examples: ['windfall serve', 'windfall serve --config /etc/windfall/config.toml'],
    noJson: 'It runs until it is stopped; its log is JSON unless it goes to a terminal.',
  },
  reload: { examples: ['windfall reload', 'windfall reload --config /etc/windfall/config.toml'] },
  demo: {
    examples: ['windfall demo', 'windfall demo --port 8790 --seed 7', 'windfall demo --subscribers 200'],
    noJson: 'It runs until it is stopped.',
  },
  health: {
    examples: ['windfall health', 'windfall health --wait 60', 'windfall health --url http://127.0.0.1:8787'],
    exits: { 0: 'Ready', 1: 'Not ready, or no answer' },
  },
  install: {
    examples: ['windfall install', 'windfall install --root /mnt/image --no-start'],
    exits: { 1: 'The service cannot use its configuration, or a step failed' },
  },
  upgrade: {
    examples: ['windfall upgrade windfall-0.3.0-linux-x64', 'windfall upgrade'],
    exits: {
      0: 'The new version serves, or runs already; without a service: it is ready for the steps that are printed',
      1: 'The old version serves again; or nothing was changed; or both are stopped and you decide: the output says which',
    },
  },
  uninstall: { examples: ['windfall uninstall', 'windfall uninstall --json'] },
  init: { examples: ['windfall init', 'windfall init --bundle com.example.app'] },
  check: {
    examples: ['windfall check', 'windfall check --config /etc/windfall/config.toml'],
    exits: { 2: 'The configuration is invalid' },
  },
  'config dump': { examples: ['windfall config dump', 'windfall config dump --json'] },
  connect: {
    examples: ['windfall connect', 'windfall connect --connect-key AuthKey_2X9R4HXF34.p8 --vendor 85912345'],
    noJson: 'It asks questions.',
  },
  doctor: { examples: ['windfall doctor', 'windfall doctor --test'], exits: { 1: 'A fault was found' } },
  support: { examples: ['windfall support', 'windfall support windfall-support.tar'] },
  'apps add': {
    examples: [
      'windfall apps add com.example.app',
      'windfall apps add com.example.app --apple-id 6448311069 --name Example',
    ],
  },
  'apps remove': {
    examples: [
      'windfall apps remove com.example.app',
      'windfall apps remove com.example.app --organization acme',
    ],
  },
  'apps list': { examples: ['windfall apps list', 'windfall apps list --json'] },
  'apps refresh': { examples: ['windfall apps refresh', 'windfall apps refresh --organization acme'] },
  'owner reset': {
    examples: ['windfall owner reset', 'windfall owner reset --config /etc/windfall/config.toml'],
  },
  'keys create': {
    examples: ['windfall keys create --label "iOS app"', 'windfall keys create --secret --label backend'],
  },
  'keys list': { examples: ['windfall keys list', 'windfall keys list --json'] },
  'keys rotate': {
    examples: ['windfall keys rotate key_1f6b2c', 'windfall keys rotate key_1f6b2c --overlap 168'],
  },
  'keys revoke': { examples: ['windfall keys revoke key_1f6b2c', 'windfall keys revoke key_1f6b2c --json'] },
  'devices list': { examples: ['windfall devices list', 'windfall devices list --user user-1 --json'] },
  'devices revoke': {
    examples: ['windfall devices revoke dev_1f6b2c', 'windfall devices revoke dev_1f6b2c --json'],
  },
  'devices require': { examples: ['windfall devices require', 'windfall devices require --end'] },
  'tokens create': {
    examples: [
      'windfall tokens create --label laptop',
      'windfall tokens create --label widget --app com.example.app --days 90',
    ],
  },
  'tokens list': { examples: ['windfall tokens list', 'windfall tokens list --json'] },
  'tokens revoke': {
    examples: ['windfall tokens revoke tok_9d41aa', 'windfall tokens revoke tok_9d41aa --json'],
  },
  'users prune': {
    examples: ['windfall users prune --unseen-for 90 --dry-run', 'windfall users prune --unseen-for 90'],
  },
  'links import': {
    examples: [
      'windfall links import links.csv --dry-run',
      'windfall links import links.csv',
      'windfall links import users.csv --app com.example.app --map app_user_id=customer,original_transaction_id=transaction',
    ],
    exits: { 1: 'A row was refused; the others are imported' },
  },
  forget: {
    examples: [
      'windfall forget --app com.example.app user-1',
      'windfall forget --list',
      'windfall forget --compact',
    ],
  },
  import: { examples: ['windfall import', 'windfall import --days 30'] },
  reconcile: { examples: ['windfall reconcile', 'windfall reconcile --since 7d --app com.example.app'] },
  'refused list': { examples: ['windfall refused list', 'windfall refused list --raw 12'] },
  'rebuild metrics': { examples: ['windfall rebuild metrics', 'windfall rebuild metrics --json'] },
  verify: {
    examples: ['windfall verify', 'windfall verify windfall.tar.zst --identity windfall-identity.txt'],
    exits: { 1: 'A difference was found' },
  },
  'jobs list': { examples: ['windfall jobs list', 'windfall jobs list --json'] },
  'jobs run': { examples: ['windfall jobs run import', 'windfall jobs run reconcile --json'] },
  export: {
    examples: [
      'windfall export copy',
      'windfall export copy.sqlite',
      'windfall export changes --format csv --after copy',
    ],
  },
  sql: {
    examples: [
      'windfall sql "select type, count(*) from events group by type"',
      'windfall sql --csv < report.sql',
      'windfall sql --schema',
    ],
    exits: { 1: 'SQLite refuses the query, or the result was cut' },
  },
  'rates list': { examples: ['windfall rates list', 'windfall rates list --json'] },
  'rates show': { examples: ['windfall rates show EUR', 'windfall rates show EUR --days 7'] },
  'rates import': {
    examples: ['windfall rates import rates.csv', 'windfall rates import rates.csv --base EUR'],
  },
  'rates remove': {
    examples: ['windfall rates remove JPY 2026-01-30', 'windfall rates remove JPY 2026-01-30 --json'],
  },
  backup: {
    examples: [
      'windfall backup /var/lib/windfall/windfall.tar.zst --recipients age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
      'windfall backup windfall.tar.zst --passphrase',
    ],
  },
  'backup list': { examples: ['windfall backup list', 'windfall backup list --remote --json'] },
  restore: {
    examples: [
      'windfall restore windfall.tar.zst --identity windfall-identity.txt',
      'windfall restore s3://example-backups/windfall --identity windfall-identity.txt',
      'windfall restore windfall.tar.zst --into /srv/look',
    ],
  },
  'alerts test': {
    examples: ['windfall alerts test', 'windfall alerts test phone'],
    exits: { 1: 'A channel refused the message' },
  },
  'alerts log': { examples: ['windfall alerts log', 'windfall alerts log --limit 200 --json'] },
  'alerts mute': {
    examples: ['windfall alerts mute 1h', 'windfall alerts mute tomorrow', 'windfall alerts mute off'],
  },
  'webhooks add': {
    examples: [
      'windfall webhooks add https://api.example.com/webhooks/windfall',
      'windfall webhooks add https://api.example.com/purchases --name purchases --types subscription.started,subscription.renewed',
    ],
  },
  'webhooks list': { examples: ['windfall webhooks list', 'windfall webhooks list --json'] },
  'webhooks test': {
    examples: [
      'windfall webhooks test api.example.com',
      'windfall webhooks test api.example.com --type purchase.refunded',
      'windfall webhooks test api.example.com --type subscription.started --user user_42',
    ],
  },
  'webhooks pause': {
    examples: [
      'windfall webhooks pause api.example.com',
      'windfall webhooks pause purchases --organization acme',
    ],
  },
  'webhooks resume': {
    examples: [
      'windfall webhooks resume api.example.com --send-waiting',
      'windfall webhooks resume api.example.com --from-now',
    ],
  },
  'webhooks rotate': {
    examples: [
      'windfall webhooks rotate api.example.com',
      'windfall webhooks rotate api.example.com --overlap 72',
    ],
  },
  'webhooks remove': {
    examples: [
      'windfall webhooks remove api.example.com',
      'windfall webhooks remove purchases --organization acme',
    ],
  },
  'webhooks replay': {
    examples: [
      'windfall webhooks replay api.example.com --since 7d',
      'windfall webhooks replay api.example.com --failed --yes',
    ],
  },
  'webhooks dismiss': {
    examples: [
      'windfall webhooks dismiss api.example.com',
      'windfall webhooks dismiss purchases --organization acme',
    ],
  },
  'webhooks retry': {
    examples: ['windfall webhooks retry api.example.com', 'windfall webhooks retry --delivery 12'],
  },
  'webhooks log': {
    examples: [
      'windfall webhooks log',
      'windfall webhooks log api.example.com --state failed',
      'windfall webhooks log --id 12',
    ],
  },
  'webhooks listen': {
    examples: ['windfall webhooks listen --port 3000', 'windfall webhooks listen --port 3000 --status 500'],
    noJson: 'It prints each delivery until it is stopped.',
  },
  'outgoing status': { examples: ['windfall outgoing status', 'windfall outgoing status --json'] },
  'outgoing resume': { examples: ['windfall outgoing resume', 'windfall outgoing resume --from-head'] },
  'outgoing new-key': { examples: ['windfall outgoing new-key', 'windfall outgoing new-key --json'] },
  completion: {
    examples: [
      'windfall completion bash > /etc/bash_completion.d/windfall',
      'windfall completion fish > ~/.config/fish/completions/windfall.fish',
    ],
    noJson: 'It prints a script.',
  },
  licenses: {
    examples: ['windfall licenses', 'windfall licenses > licenses.txt'],
    noJson: 'It prints licence texts.',
  },
}

/** The systemd unit that `windfall install` writes, and what an installed unit permits the server to read and write. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { textAt } from '../store/disk/paths.ts'

/** The name of the unit. */
export const UNIT_NAME = 'windfall.service'

/** The system user that the unit runs as. */
export const SERVICE_USER = 'windfall'

/** The folder of the units that an administrator installs. */
const UNIT_FOLDER = '/etc/systemd/system'

/** The path of the unit below `root`. */
export const unitFile = (root = '/'): string => join(root, UNIT_FOLDER, UNIT_NAME)

/**
 * The unit. MemoryDenyWriteExecute is absent, because V8 compiles JavaScript to machine code and ends at once with it.
 * There is no limit to the time of a start, because the server is ready only after the migration of a large database, and
 * a stop waits longer than `server.shutdown_seconds`.
 */
export const UNIT = `[Unit]
Description=Windfall, revenue analytics for App Store apps
Wants=network-online.target
After=network-online.target
# systemd gives up when five starts fail within a minute: systemctl reset-failed windfall
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=notify
# systemd-notify, which the server runs once it serves, is a process of its own.
NotifyAccess=all
User=${SERVICE_USER}
Group=${SERVICE_USER}
Environment=WINDFALL_CONFIG=/etc/windfall/config.toml
WorkingDirectory=/var/lib/windfall
ExecStart=/usr/local/bin/windfall serve
# Says what was taken, and fails if the configuration is invalid.
ExecReload=/usr/local/bin/windfall reload
Restart=on-failure
RestartSec=5
# Another start does not repair an invalid configuration.
RestartPreventExitStatus=2
TimeoutStartSec=infinity
TimeoutStopSec=45
KillMode=mixed
LimitNOFILE=65536
UMask=0077

# What the server can write: /var/lib/windfall. For another folder: systemctl edit windfall, with the lines
#   [Service]
#   ReadWritePaths=/srv/backups
StateDirectory=windfall
StateDirectoryMode=0700
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes

PrivateDevices=yes
DevicePolicy=closed
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`

/** What a unit says about files. Paths are absolute. */
export type Unit = {
  file: string
  /** Whether the file, without its drop-ins, is the unit of this version. */
  isOwn: boolean
  /** The config file in WINDFALL_CONFIG; null if the unit does not set it. */
  config: string | null
  user: string | null
  /** Folders that the unit may write even if it protects the system. */
  writable: string[]
  /** Folders that the unit cannot see at all. */
  hidden: string[]
  /** Folders that the unit may read but not write. `/` stands for everything. */
  readOnly: string[]
}

/** Reads the installed unit and its drop-ins below `root`; null if there is none, or if it cannot be read. */
export function readUnit(root = '/'): Unit | null {
  const file = unitFile(root)
  try {
    const text = textAt(file)
    if (text === null) return null
    return { ...parseUnit(file, [text, ...dropIns(`${file}.d`)].join('\n')), isOwn: text === UNIT }
  } catch {
    return null
  }
}

function dropIns(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.conf'))
    return names.sort().map((name) => textAt(join(folder, name)) ?? '')
  } catch {
    return []
  }
}

/** A unit from the text of its file and its drop-ins. An empty value resets a list, as in systemd.unit(5). */
export function parseUnit(file: string, text: string): Omit<Unit, 'isOwn'> {
  const values = serviceValues(text)
  const listOf = (key: string): string[] => values.get(key) ?? []
  const last = (key: string): string | null => listOf(key).at(-1) ?? null
  const isOn = (key: string): boolean => ON.has((last(key) ?? 'no').toLowerCase())
  const paths = (key: string): string[] => listOf(key).map((one) => one.replace(/^[-+]+/, ''))
  const states = listOf('StateDirectory').map((name) => `/var/lib/${name.split(':')[0]}`)
  const home = last('ProtectHome')?.toLowerCase() ?? 'no'
  const hidesHome = ON.has(home) || home === 'tmpfs'
  const system = last('ProtectSystem')?.toLowerCase() ?? 'no'
  const environment = listOf('Environment').map((one) => one.replace(/^"(.*)"$/, '$1'))
  const config = environment.filter((one) => one.startsWith('WINDFALL_CONFIG=')).at(-1)
  return {
    file,
    config: config?.slice('WINDFALL_CONFIG='.length) ?? null,
    user: last('User'),
    writable: [...paths('ReadWritePaths'), ...states],
    hidden: [
      ...(hidesHome ? HOMES : []),
      ...(isOn('PrivateTmp') ? ['/tmp', '/var/tmp'] : []),
      ...paths('InaccessiblePaths'),
    ],
    readOnly: [
      ...(SYSTEM_FOLDERS[system] ?? (ON.has(system) ? ['/usr', '/boot', '/efi'] : [])),
      ...(home === 'read-only' ? HOMES : []),
      ...paths('ReadOnlyPaths'),
    ],
  }
}

const ON = new Set(['yes', 'true', 'on', '1'])
const HOMES = ['/home', '/root', '/run/user']
const SYSTEM_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  strict: ['/'],
  full: ['/usr', '/boot', '/efi', '/etc'],
}

/** The words of each key of the section [Service]. */
function serviceValues(text: string): Map<string, string[]> {
  const values = new Map<string, string[]>()
  let section = ''
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const heading = /^\[(.+)\]$/.exec(line.trim())
    if (heading) section = heading[1] ?? ''
    const [, key, value = ''] = /^\s*([A-Za-z]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key === undefined || section !== 'Service') continue
    values.set(key, value === '' ? [] : [...(values.get(key) ?? []), ...value.split(/\s+/)])
  }
  return values
}

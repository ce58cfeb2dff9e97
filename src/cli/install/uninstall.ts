/** The command `windfall uninstall`: removes the service and its program, and keeps the data. */
import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand } from 'citty'
import { openSystemctl } from '../../systemd/systemctl.ts'
import { print, setResult } from '../instance/output.ts'
import { assertRoot } from './install.ts'
import { layoutAt } from './layout.ts'

/** Stops the service and removes its unit and its program. Returns what it removed. */
function uninstall(root: string): string[] {
  const layout = layoutAt(root)
  if (root === '/') stopService()
  const programs = ['', '.new', '.previous', '.earlier', '.upgrade'].map(
    (suffix) => `${layout.program}${suffix}`,
  )
  const found = [layout.unit, ...programs, layout.addons].filter((path) => existsSync(path))
  for (const path of found) rmSync(path, { recursive: true })
  if (root === '/' && openSystemctl().state() !== null) openSystemctl().reload()
  return found
}

function stopService(): void {
  const service = openSystemctl()
  if (service.state()?.isLoaded !== true) return
  service.run('stop')
  service.run('disable')
}

export const uninstallCommand = defineCommand({
  meta: {
    name: 'uninstall',
    description: 'Stop and remove the service and its program; the data stays (as root)',
  },
  args: {
    root: { type: 'string', valueHint: 'DIR', default: '/', description: 'The root folder of the system' },
  },
  run({ args }) {
    assertRoot('windfall uninstall')
    const root = resolve(args.root)
    const removed = uninstall(root)
    const { configFolder, data } = layoutAt(root)
    const kept = [data, configFolder].filter((path) => existsSync(path))
    setResult({ removed, kept })
    for (const path of removed) print(`removed      ${path}`)
    if (removed.length === 0) print('Windfall is not installed here.')
    for (const path of kept) print(`kept         ${path}`)
    if (kept.length === 0) return
    print('')
    print('The database, the backups, the configuration and the keys are kept. To delete them, too:')
    const userdel = root === '/' ? 'userdel windfall' : `userdel --prefix ${root} windfall`
    print(`  rm -r ${kept.join(' ')} && ${userdel}`)
  },
})

/** Lists all checks, in the order in which they run and are shown. */
import { checkKeys, checkReach } from './apple/accounts.ts'
import { checkTestNotifications } from './apple/test_each_app.ts'
import { checkAddress, checkCertificates, checkForwarded, checkPasskeys } from './checks/address.ts'
import { checkBackup, checkDrill } from './checks/backups.ts'
import { checkConfiguration, checkFiles, checkService } from './checks/configuration.ts'
import { checkDatabase, checkErasures, checkLog, checkMetrics, checkPragmas } from './checks/database.ts'
import { checkClock, checkDisk, checkFileSystem, checkInodes, checkSync } from './checks/machine.ts'
import {
  checkAlerts,
  checkCalls,
  checkLastNotifications,
  checkNotifications,
  checkOutgoing,
  checkWebhooks,
} from './checks/traffic.ts'
import { checkJobs, checkRates, checkStopped } from './checks/upkeep.ts'
import type { DoctorContext } from './context.ts'
import type { Outcome } from './result.ts'

type Outcomes = Outcome | readonly Outcome[]

/** A check. `run` returns its outcomes. An Error that it throws becomes a result. */
export type Check = {
  id: string
  title: string
  run: (context: DoctorContext) => Outcomes | Promise<Outcomes>
}

export const CHECKS: readonly Check[] = [
  // The installation: what Windfall may read and write.
  { id: 'configuration', title: 'Configuration', run: checkConfiguration },
  { id: 'files', title: 'File modes', run: checkFiles },
  { id: 'service', title: 'systemd service', run: (context) => checkService(context) },
  // The machine.
  { id: 'disk', title: 'Disk space', run: checkDisk },
  { id: 'inodes', title: 'Inodes', run: checkInodes },
  { id: 'file_system', title: 'File system', run: checkFileSystem },
  { id: 'sync', title: 'Disk sync time', run: checkSync },
  { id: 'clock', title: 'Clock', run: checkClock },
  // The database.
  { id: 'database', title: 'Database', run: checkDatabase },
  { id: 'pragmas', title: 'Database pragmas', run: checkPragmas },
  { id: 'log', title: 'Write-ahead log', run: checkLog },
  { id: 'erasures', title: 'Erasures', run: checkErasures },
  { id: 'metrics', title: 'Metrics', run: checkMetrics },
  // The address.
  { id: 'address', title: 'Base URL', run: checkAddress },
  { id: 'forwarded', title: 'Forwarding headers', run: checkForwarded },
  { id: 'certificates', title: 'Certificates', run: checkCertificates },
  { id: 'passkeys', title: 'Passkeys', run: checkPasskeys },
  // Apple.
  { id: 'apple', title: 'Apple', run: checkReach },
  { id: 'keys', title: 'Apple keys', run: checkKeys },
  { id: 'test_notification', title: 'Test notification', run: checkTestNotifications },
  { id: 'last_notification', title: 'Last notification', run: checkLastNotifications },
  { id: 'notifications', title: 'Refused and pending notifications', run: checkNotifications },
  // Callers and receivers.
  { id: 'sdk_calls', title: 'Refused SDK calls', run: checkCalls },
  { id: 'webhooks', title: 'Webhooks', run: checkWebhooks },
  { id: 'alerts', title: 'Alerts', run: checkAlerts },
  { id: 'outgoing', title: 'Outgoing requests', run: checkOutgoing },
  // Recurring work.
  { id: 'stopped', title: 'Errors', run: checkStopped },
  { id: 'backup', title: 'Backup', run: checkBackup },
  { id: 'drill', title: 'Restore drill', run: checkDrill },
  { id: 'jobs', title: 'Jobs', run: checkJobs },
  { id: 'rates', title: 'Exchange rates', run: checkRates },
]

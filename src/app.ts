/** Opens every module in order and connects them. The only file that knows the whole program. */
import { X509Certificate } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { openAccessControl } from './access/access.ts'
import { openRevocations } from './access/revocations.ts'
import { openApiTokens } from './access/tokens.ts'
import { openAlerts } from './alerts/alerts.ts'
import { openChartNotes } from './annotations/chart_notes.ts'
import { apiRoutes } from './api/routes.ts'
import { type AppOptions, NO_CONFIG_SOURCES } from './app_options.ts'
import { APPLE_HOSTS } from './apple/api/hosts.ts'
import { openRevocation } from './apple/jws/revocation.ts'
import { APPLE_ROOTS } from './apple/jws/roots.ts'
import { openVerifier } from './apple/jws/signed.ts'
import { accountsOf, openAccounts } from './apps/accounts.ts'
import { openAppleClients } from './apps/apple_clients.ts'
import { openApps } from './apps/apps.ts'
import { openCatalogue } from './apps/catalogue.ts'
import { openDeclarations } from './apps/declarations.ts'
import { openKeys } from './apps/keys.ts'
import { openOrganizations } from './apps/organizations.ts'
import { openProducts } from './apps/products.ts'
import { openStoredKeys } from './apps/stored_keys.ts'
import { openAttribution } from './attribution/attribution.ts'
import { openCallerMemory } from './attribution/caller_memory.ts'
import { openCallers } from './attribution/callers.ts'
import { openAttest } from './attribution/devices/attest.ts'
import { openErasures } from './attribution/erasure/erasure.ts'
import { openPruning } from './attribution/prune.ts'
import { openRefusedCalls } from './attribution/refused_calls.ts'
import { wholeClocks } from './clock.ts'
import type { Config } from './config/settings.ts'
import { backupSources } from './config/sources/backup_sources.ts'
import { openDoctor } from './doctor/doctor.ts'
import { openFeed } from './events/feed.ts'
import { openLive } from './events/live.ts'
import { openServedExports } from './exports/served.ts'
import { openBodies } from './forwarding/bodies/bodies.ts'
import { openForwarding } from './forwarding/forwarding.ts'
import { openHealth } from './health/collect_findings.ts'
import { openSilenceDetector } from './health/silence.ts'
import { openHttp } from './http/http.ts'
import { httpSettingsOf } from './http/http_settings.ts'
import { openJobs, schedulesOf } from './jobs/jobs.ts'
import { jobList } from './jobs/list.ts'
import { openHistory } from './ledger/history/history.ts'
import { openLedger } from './ledger/ledger.ts'
import { openNotificationReceiver } from './ledger/notification_receiver.ts'
import { openImports } from './ledger/reports/imports.ts'
import { openReportedPeriods } from './ledger/reports/reported_periods.ts'
import { openEnrichment } from './metrics/customers/enrichment.ts'
import { openFigures } from './metrics/figures.ts'
import { openScheduledBackups } from './offsite/scheduled.ts'
import { openOutgoing } from './outgoing/outgoing.ts'
import { examineOutgoing } from './outgoing/outgoing_findings.ts'
import { openRates } from './rates/rates.ts'
import { openStoppages } from './stoppages.ts'
import { openBackups } from './store/backup/backup.ts'
import { openClockCheck } from './store/clock_check.ts'
import { openFile } from './store/open_file.ts'
import { version } from './version.ts'
import { openFront } from './web/front.ts'

/** The opened program. */
export type Windfall = Awaited<ReturnType<typeof openApp>>

/**
 * Opens the whole program on its database, stores what the configuration declares, and applies pending notifications.
 * The server does not listen yet.
 */
export async function openApp(options: AppOptions) {
  const { config, log, roots = APPLE_ROOTS, hosts = APPLE_HOSTS, random = Math.random } = options
  const { rate_origins: origins, wait = (ms: number) => setTimeout(ms) } = options
  const { clock, monotonic } = wholeClocks(options)
  const store = await openFile(config.store.path, log, clock)
  const watched = { log, stoppages: openStoppages({ clock, monotonic, log }) }
  const outgoing = await openOutgoing({ store, clock, config })
  const feed = openFeed(store, clock)
  const live = openLive(feed, monotonic)
  const organizations = openOrganizations(store, clock)
  const keys = openKeys(store, clock)
  const apps = openApps(store, clock)
  const accounts = openAccounts()
  const storedKeys = openStoredKeys(store, clock, outgoing.secrets)
  const current = { config, configSources: options.configSources ?? NO_CONFIG_SOURCES }
  const appleClients = openAppleClients({ accounts, clock, hosts, current, wait })
  const products = openProducts(store, clock)
  const declarations = openDeclarations({ store, organizations, apps, keys, log })
  const revocation = config.apple.revocation_checks ? openRevocation({ clock, log }) : undefined
  const verifier = openVerifier({ roots, clock, revocation })
  const ledger = openLedger({ store, clock, feed, apps })
  const arrivals = openNotificationReceiver({ store, clock, verifier, apps, ledger, log })
  const catalogue = openCatalogue({ store, clock, apps, products, accounts, appleClients, log })
  // Every reader shares this object, so a reload reaches all of them.
  const limits = { ...config.limits }
  const history = openHistory({ store, clock, verifier, apps, ledger, feed, appleClients, arrivals, log })
  const imports = openImports({ store, clock, feed, apps, accounts, appleClients, wait, log })
  const reportedPeriods = openReportedPeriods({ store, products })
  const erasures = openErasures({ store, clock, feed, live, log, wait })
  const attribution = openAttribution({ store, clock, apps, feed, ledger, erasures, limits })
  const pruning = openPruning({ store, clock, log, isErased: erasures.isErased })
  const attest = openAttest({ store, clock, erasures, current, roots: options.attest_roots })
  const callers = openCallers({ apps, keys, organizations, ...attest })
  const refusedCalls = openRefusedCalls({ store, clock, apps, log })
  const callerMemory = openCallerMemory({ store, clock, monotonic })
  const sdk = { attribution, attest, refusedCalls, callerMemory }
  const revocations = openRevocations()
  const tokens = openApiTokens(store, clock, revocations)
  const http = openHttp({ log, clock, version, beginRequest: store.beginRequest, ...httpSettingsOf(config) })
  const signInSettings = { ...config.sign_in, insecure_http: config.server.insecure_http }
  const base_url = http.baseUrl
  const accessModules = { store, clock, monotonic, wait, log, tokens, revocations, outgoing, base_url }
  const accessControl = openAccessControl({ ...accessModules, settings: signInSettings })
  const rateSettings = { ...config.rates }
  const currenciesInUse = () => organizations.list().map(({ currency }) => currency)
  const rateParts = { store, clock, settings: rateSettings, currenciesInUse, ...(origins && { origins }) }
  const rates = openRates(rateParts)
  const metricSettings = { ...config.metrics, ...config.users }
  const counted = { store, clock, apps, organizations, products, rates, ledger, imports, feed, ...watched }
  const figures = openFigures({
    ...counted,
    factors: config.metrics.factors,
    config: metricSettings,
    isErased: erasures.isErased,
    ...(options.formula && { formula: options.formula }),
  })
  const { metrics, reported, customers, described } = figures
  const chartNotes = openChartNotes({ store, clock, apps, organizations, products, appleClients })
  const enrichment = openEnrichment({ customers, clock })
  const bodies = openBodies({ store, clock, feed, enrichment, attribution, erasures, metrics })
  const forwarded = { feed, ledger, apps, organizations, erasures, outgoing, bodies }
  const forwarding = openForwarding({ store, clock, monotonic, random, ...watched, ...forwarded })
  // Each hook gets its listeners here. Unless its module documents otherwise, a hook runs inside the unit of work that
  // makes the change. The listeners of one hook are called in the order in which they are added.
  ledger.onChange(metrics.lineageChanged)
  ledger.extendSnapshot(attribution.userOf)
  ledger.redactTokens(erasures.isErased)
  products.onPeriod(metrics.periodChanged)
  rates.onChange(reported.ratesChanged)
  rates.onChange(metrics.ratesChanged)
  imports.onDay(reported.dayChanged)
  imports.onAppsLinked(reported.appsJoined)
  catalogue.onConnected(arrivals.applyPending)
  apps.onFirst(() => store.afterCommit(() => jobs.hasten('rates', 'checks')))
  live.complete(described(enrichment))
  const sources = () => backupSources({ config: current.config, ...current.configSources })
  const backups = openBackups({ store, clock, windfall: version, sources })
  const modules = {
    clock,
    ...watched,
    http,
    store,
    feed,
    live,
    organizations,
    keys,
    apps,
    accounts,
    storedKeys,
    appleClients,
    products,
    catalogue,
    tokens,
    ...accessControl,
    rates,
    verifier,
    ledger,
    arrivals,
    history,
    imports,
    reportedPeriods,
    ...sdk,
    erasures,
    pruning,
    ...figures,
    ...chartNotes,
    outgoing,
    forwarding,
    backups,
    exports: openServedExports({ store, clock, erasures }),
  }
  const clockCheck = openClockCheck(store, clock, monotonic)
  const scheduled = openScheduledBackups({ store, clock, outgoing, backups, current })
  const jobSettings = { store, clock, log, random, schedules: schedulesOf(config) }
  const root_expires_at = Math.min(...roots.map((pem) => new X509Certificate(pem).validToDate.getTime()))
  const front = openFront()
  http.add(front.routes)
  http.fallback(front.notFound)
  const silenceDetector = openSilenceDetector(store, clock)
  const health = openHealth({ ...modules, silenceDetector, rates: rateSettings, current, root_expires_at })
  const alerts = openAlerts({ ...modules, monotonic, enrichment, silenceDetector, health, base_url, current })
  health.add(() => [...examineOutgoing(store), ...forwarding.findings(), ...alerts.findings()])
  const doctor = openDoctor({ ...modules, alerts, monotonic, wait, hosts, current, root_expires_at, version })
  const watching = { health, doctor, alerts, silenceDetector }
  const jobs = openJobs(jobList({ ...modules, ...scheduled, ...watching, current, clockCheck }), jobSettings)
  const served = { monotonic, roots, limits, hosts, wait, current, root_expires_at, revocations, base_url }
  const answered = { enrichment: described(enrichment), closing: http.closing }
  http.add(apiRoutes({ ...modules, ...served, ...watching, ...answered, callers, jobs }))

  /**
   * Applies a configuration: its declarations, and the settings that do not require a restart.
   *
   * @throws Refusal when a declaration is invalid; then nothing is applied.
   */
  async function declare(next: Config, configSources = current.configSources): Promise<void> {
    // The steps that can fail come first, so an error changes nothing.
    await declarations.declare(next)
    accounts.declare(accountsOf(next.accounts, organizations))
    accounts.adopt(storedKeys.list())
    Object.assign(current, { config: next, configSources })
    doctor.noteConfig(configSources)
    Object.assign(limits, next.limits)
    Object.assign(rateSettings, next.rates)
    Object.assign(signInSettings, next.sign_in, { insecure_http: next.server.insecure_http })
    jobs.reschedule(schedulesOf(next))
    http.configure(httpSettingsOf(next))
    outgoing.dispatcher.reconfigure(next.outbound)
    for (const one of [forwarding, alerts]) await one.declare(next)
    log.setLevel(next.log.level)
    Object.assign(metricSettings, next.metrics, next.users)
    await metrics.resume()
    await reported.resume()
    erasures.resume()
    const applied = await arrivals.applyPending()
    if (applied > 0) log.info('applied pending notifications', { applied })
  }

  async function close(): Promise<void> {
    // The modules that call Apple's API stop before the clients abort their requests.
    for (const one of [pruning, live]) one.close()
    const closingAppleCallers = [doctor, jobs, history, imports, appleClients].map((one) => one.close())
    const closingSenders = Promise.all([forwarding.close(), alerts.close()]).then(outgoing.dispatcher.close)
    const others = [erasures, refusedCalls, callerMemory, backups, scheduled].map((one) => one.close())
    await Promise.all([...closingAppleCallers, ...others, figures.closeFigures(), closingSenders])
    await revocation?.close()
    await store.close()
  }

  try {
    await declare(config)
    await imports.sweep()
    await backups.sweep()
  } catch (error) {
    await close()
    throw error
  }
  return { ...modules, ...watching, hosts, jobs, declare, close }
}

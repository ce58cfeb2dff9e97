/** Alerts: tells the owner’s phone what matters, each once, through the owner’s channels. */
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Products } from '../apps/products.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Feed } from '../events/feed.ts'
import type { Health } from '../health/collect_findings.ts'
import type { SilenceDetector } from '../health/silence.ts'
import type { Log } from '../log.ts'
import type { Enrichment } from '../metrics/customers/enrichment.ts'
import type { SeriesReader } from '../metrics/series/series.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Rates } from '../rates/rates.ts'
import type { Stoppages } from '../stoppages.ts'
import type { Store } from '../store/store.ts'
import { openChannelAdministration } from './administration/channels.ts'
import { openDeclaredAlerts } from './administration/declared.ts'
import { openDevices, pushHosts } from './administration/devices.ts'
import { openRuleAdministration } from './administration/rules.ts'
import { openChannels } from './channels/channels.ts'
import { openChannelFindings } from './channels/findings.ts'
import { openVapid } from './channels/web_push/vapid.ts'
import { openDigests } from './digests/digests.ts'
import { openHeartbeat } from './heartbeat.ts'
import { openMemory } from './memory.ts'
import { openDayTotals } from './messages/day_totals.ts'
import { openAlertHistory } from './messages/history.ts'
import { openMessages } from './messages/messages.ts'
import { openOccasions } from './messages/occasion.ts'
import { openMessageRetention } from './messages/retention.ts'
import { openTexts } from './messages/text.ts'
import { openCountries } from './rules/countries.ts'
import { openFigureRules } from './rules/figures.ts'
import { openFollowing } from './rules/following.ts'
import { openMilestones } from './rules/milestones.ts'
import { openNoSale } from './rules/no_sale.ts'
import { openPreview } from './rules/preview.ts'
import { openRules } from './rules/rules.ts'
import { openRunning } from './running.ts'
import { openAttempts } from './sending/attempts.ts'
import { openBackOff } from './sending/back_off.ts'
import { openBuckets } from './sending/buckets.ts'
import { openCourier } from './sending/courier.ts'
import { openMuteAddresses } from './sending/mute_addresses.ts'
import { openRouting } from './sending/routing.ts'
import { openSummaries } from './sending/summaries.ts'
import { openAlertSettings } from './settings.ts'
import { openTrouble } from './trouble.ts'
import { openWidgets } from './widgets/widgets.ts'

type Deps = {
  store: Store
  clock: Clock
  monotonic: Clock
  log: Log
  stoppages: Pick<Stoppages, 'isStanding' | 'watch'>
  feed: Feed
  apps: Apps
  organizations: Organizations
  products: Products
  rates: Rates
  series: SeriesReader
  enrichment: Enrichment
  outgoing: Outgoing
  base_url: () => string | undefined
  current: { readonly config: Pick<Config, 'alerts'> }
  health: Pick<Health, 'findings'>
  silenceDetector: SilenceDetector
}

export type Alerts = ReturnType<typeof openAlerts>

/** Opens alerts. Nothing is read or sent before `start`. */
export function openAlerts(deps: Deps) {
  const { store, clock } = deps
  const stored = openStored(deps)
  const { channels, rules, following, figureRules, trouble, digests } = stored
  const { courier, attempts, occasions, vapid } = openSenders(deps, stored)
  const channelAdministration = openChannelAdministration({ ...deps, ...stored })
  const declared = openDeclaredAlerts({ ...deps, ...stored, positionOf: following.positionOf })
  const isHeld = () => deps.outgoing.held.state() !== null
  const channelFindings = openChannelFindings({ ...deps, ...stored })
  const heartbeat = openHeartbeat({ ...deps, dispatcher: deps.outgoing.dispatcher, isHeld })
  const { wake, start, settled, close } = openRunning({ ...deps, ...stored, courier, heartbeat })

  /** Applies a configuration that `declaredIssues` accepts. */
  async function declare(config: Pick<Config, 'alerts' | 'alert_channels' | 'alert_rules'>): Promise<void> {
    await declared.declare(config)
    heartbeat.declare(config.alerts.heartbeat_url)
  }

  return {
    channels,
    rules,
    messages: stored.messages,
    settings: stored.settings,
    ...openSettingChanges({ ...stored, store, wake }),
    channelAdministration,
    ruleAdministration: openRuleAdministration({
      ...deps,
      channels,
      rules,
      positionOf: following.positionOf,
    }),
    preview: openPreview({ ...deps, occasions, countries: stored.countries }),
    history: openAlertHistory(store),
    expire: openMessageRetention(store, clock),
    digests,
    widgets: openWidgets(deps),
    test: attempts.test,
    look: trouble.look,
    evaluate: figureRules.evaluate,
    devices: openDevices({ channels, administration: channelAdministration }),
    publicKey: vapid.publicKey,
    findings: () => [...channelFindings(), ...heartbeat.findings(), ...vapid.findings()],
    beat: heartbeat.beat,
    declare,
    follow: following.follow,
    wake,
    start,
    settled,
    close,
  }
}

type SettingChanges = Pick<ReturnType<typeof openStored>, 'settings' | 'messages' | 'muteAddresses'> & {
  store: Pick<Store, 'afterCommit'>
  wake: () => void
}

/** Opens the changes that end or move quiet hours. */
function openSettingChanges({ store, settings, messages, muteAddresses, wake }: SettingChanges) {
  /** Changes the quiet hours or the mute. Must run inside a unit of work. */
  function changeSettings(organization_id: string, changes: Parameters<typeof settings.change>[1]): void {
    settings.change(organization_id, changes)
    lookAgain(organization_id)
  }

  /**
   * Looks again at what waits for the end of quiet hours or of a mute, because the settings or the time zone changed. Must
   * run inside a unit of work.
   */
  function lookAgain(organization_id: string): void {
    messages.makeSilencedDue(organization_id)
    store.afterCommit(wake)
  }

  /**
   * Mutes alerts for the button of a message. Must run inside a unit of work.
   *
   * @throws Refusal as `press` of the addresses
   */
  function pressMute(address: string) {
    const pressed = muteAddresses.press(address)
    const { channel, muted_until, is_first } = pressed
    if (is_first) changeSettings(channel.organization_id, { muted_until })
    return pressed
  }

  return { changeSettings, lookAgain, pressMute }
}

/** Opens what is stored, and what writes messages. */
function openStored(deps: Deps) {
  const { store, clock, monotonic, outgoing, silenceDetector, organizations } = deps
  const parts = {
    memory: openMemory(store),
    settings: openAlertSettings(store, organizations),
    channels: openChannels(store, clock, outgoing.secrets),
    rules: openRules(store, clock),
    messages: openMessages(store, clock),
    backOff: openBackOff(monotonic),
  }
  const stored = { ...deps, ...parts, findings: deps.health.findings }
  const countries = openCountries(stored)
  return {
    ...parts,
    digests: openDigests(stored),
    trouble: openTrouble(stored),
    countries,
    muteAddresses: openMuteAddresses({ ...stored, baseUrl: () => deps.base_url() ?? '' }),
    following: openFollowing({ ...stored, countries }),
    figureRules: openFigureRules({
      ...stored,
      milestones: openMilestones(stored),
      noSale: openNoSale({ ...stored, isSilent: (app_id) => silenceDetector.silence(app_id) !== null }),
    }),
  }
}

/** Opens what sends messages. */
function openSenders(deps: Deps, parts: ReturnType<typeof openStored>) {
  const { clock, monotonic, apps, outgoing } = deps
  const stored = { ...deps, ...parts }
  const occasions = openOccasions(deps)
  const nameOfApp = (id: string): string => apps.get(id)?.name ?? apps.get(id)?.bundle_id ?? id
  const { isSeen } = parts.trouble
  const texts = openTexts({ ...deps, occasions, dayTotals: openDayTotals(deps), nameOfApp, isSeen })
  const buckets = openBuckets(monotonic)
  const baseUrl = () => deps.base_url() ?? ''
  const contact = () => deps.current.config.alerts.contact
  const hosts = () => pushHosts(parts.channels)
  const vapid = openVapid({ store: deps.store, secrets: outgoing.secrets, contact, baseUrl, hosts })
  const attempts = openAttempts({
    ...stored,
    texts,
    buckets,
    dispatcher: outgoing.dispatcher,
    baseUrl,
    vapid,
    countOpen: parts.trouble.countOpen,
  })
  const courier = openCourier({
    ...stored,
    attempts,
    routing: openRouting({ ...stored, isOpen: parts.trouble.isOpen }),
    summaries: openSummaries(parts.messages, clock),
    isHeld: () => outgoing.held.state() !== null,
  })
  return { occasions, attempts, courier, vapid }
}

/** Applies the organizations, apps and keys that config.toml declares: all of them, or none. */
import type { Config } from '../config/settings.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import type { App, Apps } from './apps.ts'
import type { DeclaredKey, Keys } from './keys.ts'
import type { Organization, Organizations } from './organizations.ts'

type Deps = { store: Store; organizations: Organizations; apps: Apps; keys: Keys; log: Log }
type Declared = Pick<Config, 'organizations' | 'apps'>
type Warning = { message: string; fields: Record<string, unknown> }

/** Opens the declarations. */
export function openDeclarations({ store, organizations, apps, keys, log }: Deps) {
  /**
   * Applies the declarations of a configuration in one unit of work: after an error nothing has changed.
   *
   * @throws Refusal 409 `key_in_use` or `android_package_taken`; 503 if the database cannot be written.
   */
  async function declare(next: Declared): Promise<void> {
    const warnings = await store.commit(() => {
      const collected = [...applyRenames(next), ...replaceFirstStart(next)]
      const before = organizations.list()
      organizations.declare(next.organizations)
      collected.push(...before.flatMap(warnDropped))
      for (const organization of organizations.list()) declareOrganization(organization, next)
      return collected
    })
    for (const { message, fields } of warnings) log.warn(message, fields)
  }

  /** Removing an organization from config.toml disconnects its apps. The warning says how to rename it instead. */
  function warnDropped({ id, slug }: Organization): Warning[] {
    const bundle_ids = bundlesOf(apps.list().filter((app) => app.organization_id === id))
    if (organizations.list().some((one) => one.id === id) || bundle_ids.length === 0) return []
    const message =
      'an organization is no longer declared: its apps are disconnected and its keys are refused'
    const to_rename = `to rename it, give the new slug its publishable_key, which windfall keys list shows for ${slug}`
    return [{ message, fields: { organization: slug, apps: bundle_ids, to_rename } }]
  }

  function declareOrganization({ id, slug }: Organization, next: Declared): void {
    const declared = next.organizations.find((one) => one.slug === slug)
    const declaredApps = next.apps.filter((app) => app.organization === slug)
    apps.declare(id, declaredApps)
    keys.declare(id, declared ? keysOf(declared) : [])
    if (keys.list(id).length === 0) keys.create(id, 'publishable', 'Default key')
  }

  /**
   * Applies renames. A new slug with the key of an organization that is no longer declared renames that organization,
   * which keeps its keys in released apps, its tokens and its history. Each rename is logged.
   */
  function applyRenames(next: Declared): Warning[] {
    return next.organizations.flatMap((declared) => {
      const former = organizations.findBySlug(declared.slug) === null ? formerOf(declared, next) : null
      if (former === null) return []
      organizations.rename(former.id, declared.slug)
      const message = 'an organization was renamed: update the notification URL in App Store Connect'
      const address = `/apple/notifications/${declared.slug}`
      return [{ message, fields: { before: former.slug, now: declared.slug, address } }]
    })
  }

  /** The undeclared organization that has all the keys of a new one; null without one. */
  function formerOf(
    declared: Config['organizations'][number],
    { organizations: all }: Declared,
  ): Organization | null {
    const holders = new Set(keysOf(declared).flatMap(({ token }) => keys.holderOf(token) ?? []))
    const [id, another] = holders
    const former = id === undefined || another !== undefined ? null : organizations.get(id)
    return former === null || all.some(({ slug }) => slug === former.slug) ? null : former
  }

  /**
   * Replaces the organization of the first start once config.toml declares organizations. If one is declared, or one of
   * several new ones has all its apps, it is renamed to that one and keeps its keys, tokens and history. Otherwise it
   * is marked as gone. It stays if it has apps that config.toml does not declare, because their history belongs to it.
   * Each case is logged.
   */
  function replaceFirstStart(next: Declared): Warning[] {
    const first = organizations.firstStartOrganization()
    const isDeclared = next.organizations.some(({ slug }) => slug === first?.slug)
    if (!first || isDeclared || next.organizations.length === 0) return []
    const { id, slug } = first
    const present = apps.list().filter((app) => app.organization_id === id)
    const successor = successorOf(bundlesOf(present), next)
    if (successor !== null) {
      organizations.rename(id, successor)
      const message =
        'the organization of the first start was renamed: update the notification URL in App Store Connect'
      return [
        { message, fields: { before: slug, now: successor, address: `/apple/notifications/${successor}` } },
      ]
    }
    const undeclared = present.filter((app) => app.source !== 'config')
    if (undeclared.length === 0) {
      organizations.drop(id)
      const message =
        'the organization of the first start has no apps and is not declared: it was removed with its keys'
      return [{ message, fields: { organization: slug } }]
    }
    const message =
      'the organization of the first start has apps and is not declared: it stays in addition to the declared ones'
    const to_end = `declare slug = "${slug}", or run windfall apps remove BUNDLE --organization ${slug}`
    return [{ message, fields: { organization: slug, apps: bundlesOf(undeclared), to_end } }]
  }

  function successorOf(bundles: readonly string[], next: Declared): string | null {
    const fresh = next.organizations.flatMap(({ slug }) => (organizations.findBySlug(slug) ? [] : slug))
    if (next.organizations.length === 1) return fresh[0] ?? null
    const has = (slug: string, bundle: string) =>
      next.apps.some((app) => app.organization === slug && app.bundle_id === bundle)
    const successors = fresh.filter((slug) => bundles.every((bundle) => has(slug, bundle)))
    return successors.length === 1 && bundles.length > 0 ? (successors[0] ?? null) : null
  }

  return { declare }
}

const bundlesOf = (apps: readonly App[]): string[] => apps.map(({ bundle_id }) => bundle_id)

function keysOf({ publishable_key, secret_key }: Config['organizations'][number]): DeclaredKey[] {
  return [
    ...(publishable_key ? [{ kind: 'publishable' as const, token: publishable_key }] : []),
    ...(secret_key ? [{ kind: 'secret' as const, token: secret_key }] : []),
  ]
}

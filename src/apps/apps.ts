/** Connected apps, their organizations, and the source of each: config.toml, Apple or a command. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { openHook } from '../hooks.ts'
import { newId } from '../ids.ts'
import { bound, type Store } from '../store/store.ts'

export type App = {
  id: string
  organization_id: string
  bundle_id: string
  name: string | null
  apple_id: number | null
  team_id: string | null
  android_package: string | null
  sku: string | null
  source: string
  created_at: number
  gone_at: number | null
}

/** The fields of an app that can be set. Omitted fields keep their values. */
export type AppDeclaration = { bundle_id: string } & {
  [Key in 'name' | 'apple_id' | 'team_id' | 'android_package' | 'sku']?: App[Key] | undefined
}

export type Apps = ReturnType<typeof openApps>

/** Opens the apps. */
export function openApps(store: Store, clock: Clock) {
  const selectAll = store.prepare<[], App>(`
    select apps.* from apps join organizations on organizations.id = organization_id
    where apps.gone_at is null and organizations.gone_at is null order by apps.created_at, bundle_id`)
  const ofBundle = store.prepare<[string], App>(
    `select * from apps where bundle_id = ${bound} and gone_at is null order by organization_id`,
  )
  const ofPackage = store.prepare<[string], App>(
    `select * from apps where android_package = ${bound} and gone_at is null order by organization_id`,
  )
  const presentOrganization = store.prepare<[string], { id: string }>(
    'select id from organizations where id = ? and gone_at is null',
  )
  const tables = ['apps', 'organizations']
  const cachedByBundle = store.cached(tables, (bundle_id) => ofBundle.all(bundle_id).filter(isPresent))
  const cachedByPackage = store.cached(tables, (name) => ofPackage.all(name).filter(isPresent))
  const withId = store.prepare<[string], App>('select * from apps where id = ?')
  const byId = store.cached(['apps'], (id): App | null => withId.get(id) ?? null)
  const inOrganization = store.prepare<[string, string], App>(
    'select * from apps where organization_id = ? and bundle_id = ?',
  )
  const upsert = store.prepare<App>(`
    insert into apps ( id,  organization_id,  bundle_id,  name,  apple_id,  team_id,  android_package,  sku,  source,  created_at,  gone_at)
    values           (:id, :organization_id, :bundle_id, :name, :apple_id, :team_id, :android_package, :sku, :source, :created_at, null)
    on conflict (organization_id, bundle_id) do update set
      name = excluded.name, apple_id = excluded.apple_id, team_id = excluded.team_id,
      android_package = excluded.android_package, sku = excluded.sku, source = excluded.source, gone_at = null`)
  const markGone = store.prepare<[number, string]>('update apps set gone_at = ? where id = ?')
  const markRemoved = store.prepare<[number, string]>(
    "update apps set gone_at = ?, source = 'command line' where id = ?",
  )
  const clearPackage = store.prepare<[string]>('update apps set android_package = null where id = ?')
  const updateAppleId = store.prepare<[number, string]>(
    'update apps set apple_id = ? where id = ? and apple_id is null',
  )

  const first = openHook()

  const isPresent = (app: App): boolean => presentOrganization.get(app.organization_id) !== undefined

  /** All connected apps, oldest first. */
  const list = (): App[] => selectAll.all()

  /** The connected apps with this bundle id: one for each organization that has it. */
  const byBundle = (bundle_id: string): readonly App[] => cachedByBundle(bundle_id)

  /** The connected apps with this Android application id. */
  const byAndroidPackage = (name: string): readonly App[] => cachedByPackage(name)
  const { packageFor, packageHolder } = openPackages(byAndroidPackage)

  /** The app of an organization with this bundle id or id, gone or not. */
  function ofOrganization(organization_id: string, name: string): App | null {
    const app = inOrganization.get(organization_id, name) ?? byId(name)
    return app?.organization_id === organization_id ? app : null
  }

  /** The app with this id, gone or not. */
  const get = (id: string): App | null => byId(id)

  /**
   * Connects an app, or updates one.
   *
   * @throws Refusal 409 `declared_in_config` if config.toml declares it; 409 `android_package_taken` if another app of
   * the organization has the Android application id.
   */
  function add(organization_id: string, declaration: AppDeclaration, source: string): App {
    const known = inOrganization.get(organization_id, declaration.bundle_id)
    const isFirst = list().length === 0
    if (known?.source === 'config' && known.gone_at === null && source !== 'config') {
      throw new Refusal(
        409,
        'declared_in_config',
        `${declaration.bundle_id} is declared in config.toml; change it there`,
      )
    }
    const { bundle_id } = declaration
    upsert.run({
      id: known?.id ?? newId('app'),
      organization_id,
      bundle_id,
      name: declaration.name ?? known?.name ?? null,
      apple_id: declaration.apple_id ?? known?.apple_id ?? null,
      team_id: declaration.team_id ?? known?.team_id ?? null,
      android_package: packageFor(organization_id, declaration, known),
      sku: declaration.sku ?? known?.sku ?? null,
      source,
      created_at: clock(),
      gone_at: null,
    })
    if (isFirst) first.call()
    const app = inOrganization.get(organization_id, bundle_id)
    if (!app) throw new Error(`${bundle_id} was written but cannot be read`)
    return app
  }

  /**
   * Stores the apps that config.toml declares for an organization, and marks those it no longer declares as gone.
   *
   * @throws Refusal 409 `android_package_taken` if an app from another source has a declared Android application id.
   */
  function declare(organization_id: string, declarations: readonly AppDeclaration[]): void {
    const declared = new Set(declarations.map((declaration) => declaration.bundle_id))
    const present = list().filter((app) => app.organization_id === organization_id)
    for (const app of present) {
      if (app.source === 'config' && !declared.has(app.bundle_id)) markGone.run(clock(), app.id)
    }
    for (const { bundle_id, android_package } of declarations) {
      const holder = packageHolder(organization_id, bundle_id, android_package ?? null)
      // config.toml declares both apps and moves the package from one to the other.
      if (holder && declared.has(holder.bundle_id)) clearPackage.run(holder.id)
    }
    for (const declaration of declarations) add(organization_id, declaration, 'config')
  }

  /**
   * Disconnects an app. Its data stays; new notifications become pending. A refresh of Apple's list does not reconnect
   * it, because a person removed it.
   *
   * @throws Refusal 404 `unknown_app`; 409 `declared_in_config`.
   */
  function remove(organization_id: string, bundle_id: string): App {
    const app = inOrganization.get(organization_id, bundle_id)
    if (!app || app.gone_at !== null) throw new Refusal(404, 'unknown_app', `${bundle_id} is not connected`)
    if (app.source === 'config') {
      throw new Refusal(409, 'declared_in_config', `${bundle_id} is declared in config.toml; remove it there`)
    }
    markRemoved.run(clock(), app.id)
    return { ...app, source: 'command line', gone_at: clock() }
  }

  /** Stores the Apple id from a verified payload, if the app has none. */
  const setAppleId = (app: App, apple_id: number): void => void updateAppleId.run(apple_id, app.id)

  return {
    list,
    byBundle,
    byAndroidPackage,
    get,
    ofOrganization,
    add,
    declare,
    remove,
    setAppleId,
    /** Calls the listener when an app is connected while no other is, inside the unit of work. */
    onFirst: first.add,
  }
}

/** The rules of Android application ids: in an organization, one app has each. */
function openPackages(byAndroidPackage: (name: string) => readonly App[]) {
  function packageFor(
    organization_id: string,
    { bundle_id, android_package }: AppDeclaration,
    known: App | undefined,
  ): string | null {
    const name = android_package ?? known?.android_package ?? null
    const holder = packageHolder(organization_id, bundle_id, name)
    if (!holder) return name
    // While the app was disconnected, another app may have taken its package.
    if (!android_package) return null
    const detail = `${holder.bundle_id} already has the Android package ${android_package}`
    throw new Refusal(409, 'android_package_taken', detail)
  }

  /** The other app of the organization with this Android application id. */
  const packageHolder = (organization_id: string, bundle_id: string, name: string | null): App | undefined =>
    (name === null ? [] : byAndroidPackage(name)).find(
      (app) => app.organization_id === organization_id && app.bundle_id !== bundle_id,
    )

  return { packageFor, packageHolder }
}

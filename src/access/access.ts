/** What may be asked: of the owner and of guests: opens what lets them in, and joins it. */
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { openReaders } from '../readers.ts'
import type { ApiTokens } from '../tokens.ts'
import { openAudit } from './audit.ts'
import { openDoorway } from './doorway.ts'
import type { Endings } from './endings.ts'
import { entryRoutes } from './entry_routes.ts'
import { linkRoutes } from './link_routes.ts'
import { openShareLinks } from './links.ts'
import { openOwner } from './owner.ts'
import { ownerRoutes } from './owner_routes.ts'
import { openSessions, type SessionSettings } from './sessions.ts'
import { openSignIn } from './sign_in.ts'
import { openThrottle } from './throttle.ts'
import { tokenRoutes } from './token_routes.ts'

type Deps = {
  store: Store
  clock: Clock
  /** Never jumps. */
  monotonic: Clock
  wait: (ms: number) => Promise<void>
  log: Log
  tokens: ApiTokens
  organizations: Organizations
  apps: Apps
  endings: Endings
  /** One object for all who read it, so that a reload reaches them. */
  settings: SessionSettings & { insecure_http: boolean }
  base_url: () => string | undefined
}

export function openDoor(deps: Deps) {
  const { store, clock, monotonic, wait, log, tokens, endings, settings, base_url } = deps
  const { organizations, apps } = deps
  const audit = openAudit(store, clock)
  const owner = openOwner(store, clock)
  const sessions = openSessions({ store, clock, settings, endings })
  const links = openShareLinks(store, clock, sessions)
  const doorway = openDoorway({ base_url, settings })
  const throttle = openThrottle({ clock: monotonic, wait })
  const readers = openReaders({ store, tokens, sessions, links, doorway, audit, clock })
  const signIn = openSignIn({ store, clock, log, owner, sessions, audit, throttle, doorway })
  const routes = [
    ...entryRoutes({ store, owner, sessions, signIn, doorway, readers, audit }),
    ...linkRoutes({
      ...{ store, clock, organizations, apps, owner, links, sessions },
      ...{ signIn, doorway, readers, audit, base_url },
    }),
    ...tokenRoutes({ clock, organizations, apps, tokens, readers, audit }),
    ...ownerRoutes({ sessions, audit, readers }),
  ]
  return { audit, owner, sessions, links, readers, routes }
}

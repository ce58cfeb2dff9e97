/** The frame of every view: navigation at the side, or at the bottom on a phone, and notices. */
import type { ComponentChildren, JSX } from 'preact'
import { useLocation } from 'preact-iso/router'
import { hasView, NAVIGATION_VIEWS, type NavigationView, viewAt } from '../addresses.ts'
import { Icon } from '../parts/icons.tsx'
import { Popover } from '../parts/popover.tsx'
import { useOnline } from '../parts/query_view.tsx'
import { useMedia } from '../parts/use_media.ts'
import { useScope } from '../scope.ts'
import { storageMessage, useSession } from '../session.ts'
import { plural } from '../words.ts'
import { Bell, type Trouble, useTrouble } from './bell.tsx'
import { SearchButton, useCommands } from './commands.tsx'
import { useDeviceRepair } from './device_repair.ts'
import { HeldBanner } from './held_banner.tsx'
import { ImportBanner } from './import_banner.tsx'
import { signOut } from './sign_out.ts'
import { ThemeButton } from './theme.tsx'

const isCurrent = (view: NavigationView, path: string): boolean => viewAt(path)?.section === view.section

function Link({ view, path }: { view: NavigationView; path: string }): JSX.Element {
  const { href } = useScope()
  const { state } = useSession()
  const { title, icon } = view.navigation
  const guestTitle = 'guestTitle' in view.navigation ? view.navigation.guestTitle : title
  return (
    <a href={href(view.path)} aria-current={isCurrent(view, path) ? 'page' : undefined}>
      <Icon name={icon} />
      <span>{state === 'guest' ? guestTitle : title}</span>
    </a>
  )
}

const SignOut = (): JSX.Element => (
  <button type="button" class="button plain" onClick={signOut}>
    <Icon name="leave" /> Sign out
  </button>
)

type NavigationProps = { views: NavigationView[]; path: string; trouble: Trouble | null; search: () => void }

function SideNavigation({ views, path, trouble, search }: NavigationProps): JSX.Element {
  const { state } = useSession()
  return (
    <header class="side">
      <a class="brand" href="/">
        <img src="/icon.svg" alt="" width="26" height="26" /> Windfall
      </a>
      <SearchButton class="pick find" onClick={search} />
      <nav class="nav" aria-label="Views">
        {views.map((view) => (
          <Link key={view.path} view={view} path={path} />
        ))}
      </nav>
      <div class="side-foot">
        {state === 'guest' && <span>Viewing a shared dashboard</span>}
        <div class="row">
          <ThemeButton />
          {trouble && <Bell trouble={trouble} />}
          <SignOut />
        </div>
      </div>
    </header>
  )
}

function BottomNavigation({ views, path, trouble, search }: NavigationProps): JSX.Element {
  const { href } = useScope()
  const unread = trouble?.unread.length ?? 0
  const hiddenViews = views.filter((view) => !view.navigation.isOnPhone)
  return (
    <nav class="tabs-bottom" aria-label="Views">
      {views
        .filter((view) => view.navigation.isOnPhone)
        .map((view) => (
          <Link key={view.path} view={view} path={path} />
        ))}
      <SearchButton onClick={search} />
      <Popover
        buttonClass={hiddenViews.some((view) => isCurrent(view, path)) ? 'is-current' : ''}
        class="menu"
        title={unread > 0 ? `More: ${plural(unread, 'unread finding')}` : 'More'}
        label={
          <>
            <Icon name="more" />
            <span>More</span>
            {unread > 0 && <span class="bell-mark" />}
          </>
        }
      >
        {(close) => (
          <>
            {hiddenViews.map((view) => (
              <a
                key={view.path}
                class="item"
                href={href(view.path)}
                aria-current={isCurrent(view, path) ? 'page' : undefined}
                onClick={close}
              >
                {view.navigation.title}
              </a>
            ))}
            <hr />
            <div class="row">
              <ThemeButton />
              {trouble && <Bell trouble={trouble} />}
              <SignOut />
            </div>
          </>
        )}
      </Popover>
    </nav>
  )
}

/** Where the navigation is at the bottom, as in the style sheet. */
const NARROW = '(max-width: 900px)'

export function Frame({ children }: { children: ComponentChildren }): JSX.Element {
  const { path } = useLocation()
  const session = useSession()
  const { state, insecure } = session
  const storage = storageMessage(session.storage)
  const isOnline = useOnline()
  const isNarrow = useMedia(NARROW)
  const found = useTrouble(state === 'owner')
  useDeviceRepair(state === 'owner')
  const trouble = state === 'owner' ? found : null
  const views = NAVIGATION_VIEWS.filter((view) => hasView(session, view))
  const { search, sheet } = useCommands(views)
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to content
      </a>
      {!isNarrow && <SideNavigation views={views} path={path} trouble={trouble} search={search} />}
      <div class="content">
        {storage !== null && (
          <div class="banner" role="status">
            {storage}
          </div>
        )}
        {insecure && (
          <div class="banner" role="status">
            Others can read this page: it was loaded without HTTPS.
          </div>
        )}
        <HeldBanner />
        <ImportBanner />
        {!isOnline && (
          <div class="banner" role="status">
            You are offline. The data shown may be out of date.
          </div>
        )}
        {children}
      </div>
      {isNarrow && <BottomNavigation views={views} path={path} trouble={trouble} search={search} />}
      {sheet}
    </div>
  )
}

/** What surrounds every view: navigation beside it, or below it on a phone, and the bar of what it is about. */
import type { ComponentChildren, JSX } from 'preact'
import { useLocation } from 'preact-iso'
import { write } from '../http.ts'
import { Icon } from '../parts/icons.tsx'
import { Popover } from '../parts/popover.tsx'
import { useOnline } from '../parts/states.tsx'
import { useScope } from '../scope.ts'
import { storageMessage, useSession } from '../session.ts'
import { ThemeButton } from './theme.tsx'
import { VIEWS, type View } from './views.ts'

const isCurrent = (view: View, path: string): boolean =>
  view.path === '/'
    ? path === '/'
    : [view.path, ...(view.also ?? [])].some((one) => path === one || path.startsWith(`${one}/`))

function Link({ view, path }: { view: View; path: string }): JSX.Element {
  const { href } = useScope()
  return (
    <a href={href(view.path)} aria-current={isCurrent(view, path) ? 'page' : undefined}>
      <Icon name={view.icon} />
      <span>{view.title}</span>
    </a>
  )
}

const signOut = async (): Promise<void> => {
  await write('POST', '/api/v1/logout')
  // A fresh page: nothing of what was seen stays in its memory.
  location.assign('/')
}

const SignOut = (): JSX.Element => (
  <button type="button" class="button plain" onClick={signOut}>
    <Icon name="leave" /> Sign out
  </button>
)

function Side({ views, path }: { views: View[]; path: string }): JSX.Element {
  const { state } = useSession()
  return (
    <header class="side">
      <a class="brand" href="/">
        <img src="/icon.svg" alt="" width="26" height="26" /> Windfall
      </a>
      <nav class="nav" aria-label="Views">
        {views.map((view) => (
          <Link key={view.path} view={view} path={path} />
        ))}
      </nav>
      <div class="side-foot">
        {state === 'guest' && <span>You look at this through a shared link.</span>}
        <div class="row">
          <ThemeButton />
          <SignOut />
        </div>
      </div>
    </header>
  )
}

function Bottom({ views, path }: { views: View[]; path: string }): JSX.Element {
  const { href } = useScope()
  const others = views.filter((view) => !view.isOnPhone)
  return (
    <nav class="tabs-bottom" aria-label="Views">
      {views
        .filter((view) => view.isOnPhone)
        .map((view) => (
          <Link key={view.path} view={view} path={path} />
        ))}
      <Popover
        buttonClass={others.some((view) => isCurrent(view, path)) ? 'is-current' : ''}
        class="menu"
        title="More"
        label={
          <>
            <Icon name="more" />
            <span>More</span>
          </>
        }
      >
        {(close) => (
          <>
            {others.map((view) => (
              <a key={view.path} class="item" href={href(view.path)} onClick={close}>
                {view.title}
              </a>
            ))}
            <hr />
            <div class="row">
              <ThemeButton />
              <SignOut />
            </div>
          </>
        )}
      </Popover>
    </nav>
  )
}

export function Frame({ children }: { children: ComponentChildren }): JSX.Element {
  const { path } = useLocation()
  const session = useSession()
  const { state, insecure } = session
  const storage = storageMessage(session.storage)
  const isOnline = useOnline()
  const views = VIEWS.filter((view) => state === 'owner' || view.isForGuests)
  return (
    <div class="frame">
      <a class="skip" href="#content">
        To the content
      </a>
      <Side views={views} path={path} />
      <div class="content">
        {storage !== null && (
          <div class="banner" role="status">
            {storage}
          </div>
        )}
        {insecure && (
          <div class="banner" role="status">
            This page came over plain http: whoever is on the way can read along. Put it behind https.
          </div>
        )}
        {!isOnline && (
          <div class="banner" role="status">
            You are offline. What is shown is what was last seen.
          </div>
        )}
        {children}
      </div>
      <Bottom views={views} path={path} />
    </div>
  )
}

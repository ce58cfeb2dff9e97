/** The list of the settings' sections: links, or a menu on a narrow screen. */
import type { JSX } from 'preact'
import { useLocation } from 'preact-iso/router'
import { Icon } from '../parts/icons.tsx'
import { useScope } from '../scope.ts'
import { SECTIONS } from './sections.ts'

export function SectionList({ current }: { current: string }): JSX.Element {
  const { href } = useScope()
  const { route } = useLocation()
  return (
    <>
      <nav class="sections nav" aria-label="Sections">
        {SECTIONS.map(({ name, title, icon }) => (
          <a key={name} href={href(`/settings/${name}`)} aria-current={name === current ? 'page' : undefined}>
            <Icon name={icon} />
            {title}
          </a>
        ))}
      </nav>
      <label class="sections-pick">
        <span class="spoken">Section</span>
        <select
          class="select"
          value={current}
          onChange={(event) => route(href(`/settings/${event.currentTarget.value}`))}
        >
          {SECTIONS.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}

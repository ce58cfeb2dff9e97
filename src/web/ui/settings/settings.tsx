/** The settings view. Each section has its own URL. */
import type { JSX } from 'preact'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { Empty } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { SECTION_COMPONENTS } from './section_components.ts'
import { SectionList } from './section_list.tsx'
import { SECTION_PARAMS, SECTIONS } from './sections.ts'

/** `section` is from the URL; the default is the first section. */
export function Settings({ section }: { section?: string }): JSX.Element {
  const selected = SECTIONS.find(({ name }) => name === (section ?? SECTIONS[0].name))
  const SectionView = selected && SECTION_COMPONENTS[selected.name]
  return (
    <main class="page settings" id="content">
      <UnusedNotice params={selected && SECTION_PARAMS[selected.name]} />
      <header class="page-head">
        <Title>{(section && selected?.title) || 'Settings'}</Title>
      </header>
      <SectionList current={selected?.name ?? ''} />
      <div class="section">
        {SectionView ? <SectionView /> : <Empty icon="question" title="Section not found" />}
      </div>
    </main>
  )
}

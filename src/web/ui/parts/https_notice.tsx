/** Warns that Apple does not send notifications to a URL without HTTPS. */
import type { JSX } from 'preact'
import { Icon } from './icons.tsx'

export const HttpsNotice = ({ url }: { url: string }): JSX.Element | null =>
  url.startsWith('https://') ? null : (
    <p class="notice warn">
      <Icon name="warning" />
      <span>
        Apple sends notifications only to HTTPS addresses. Put a proxy or a tunnel in front of Windfall and
        set <code>base_url</code> to its address.
      </span>
    </p>
  )

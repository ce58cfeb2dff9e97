/** The empty state without apps: commands to connect them, and the notification URL. */
import type { JSX } from 'preact'
import { Card } from '../parts/card.tsx'
import { CommandCopy, Copy } from '../parts/copy.tsx'
import { HttpsNotice } from '../parts/https_notice.tsx'
import { useSettings } from './settings_queries.ts'

export function ConnectFirst(): JSX.Element {
  const url = useSettings().data?.notification_url
  return (
    <Card title="Connect your apps">
      <div class="stack">
        <p class="small quiet">
          No app is connected yet. Run this command in Windfall’s folder on the server. It asks for your Apple
          keys, tests each one and connects every app that the keys can access:
        </p>
        <CommandCopy text="windfall connect" />
        <p class="small quiet">Or add one app at a time, without keys:</p>
        <CommandCopy text="windfall apps add com.example.app" />
        {url && (
          <>
            <p class="small quiet">Then enter this URL as the server URL in App Store Connect:</p>
            <Copy text={url} label="the notification URL" />
            <HttpsNotice url={url} />
          </>
        )}
      </div>
    </Card>
  )
}

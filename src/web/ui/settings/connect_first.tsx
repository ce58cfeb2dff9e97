/** What to do when no app is connected: the commands to paste, and the address for Apple. */
import type { JSX } from 'preact'
import { Card } from '../parts/card.tsx'
import { CommandCopy, Copy } from '../parts/copy.tsx'
import { useStatus } from './status_queries.ts'

export function ConnectFirst(): JSX.Element {
  const url = useStatus().data?.notification_url
  return (
    <Card title="Connect your apps">
      <div class="stack">
        <p class="small quiet">
          No app is connected yet. In Windfall’s folder on the server, this asks for your Apple keys, tries
          each one, and connects every app that they reach:
        </p>
        <CommandCopy text="windfall connect" />
        <p class="small quiet">Or without keys, one app at a time:</p>
        <CommandCopy text="windfall apps add com.example.app" />
        {url && (
          <>
            <p class="small quiet">Then enter this address as the server URL in App Store Connect:</p>
            <Copy text={url} label="the notification address" />
          </>
        )}
      </div>
    </Card>
  )
}

/** Whom the HTTP application answers for. */
import type { Config } from '../config/settings.ts'

/** Its own address, the other hosts it answers for, and the proxies it believes, as configured. */
export const httpSettingsOf = ({ base_url, server }: Config) => ({
  base_url,
  hosts: server.hosts,
  trusted_proxies: server.trusted_proxies,
})

/** Selects the settings of the HTTP application from the configuration. */
import type { Config } from '../config/settings.ts'

/** Picks the base URL, the other hosts and the trusted proxies from the configuration. */
export const httpSettingsOf = ({ base_url, server }: Config) => ({
  base_url,
  hosts: server.hosts,
  trusted_proxies: server.trusted_proxies,
})

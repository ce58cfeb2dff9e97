/** Queries of attested devices and of the labels of calls. */
import type { InferOutput } from 'valibot'
import type { CallsAnswer } from '../../../../api/sdk/call_labels.ts'
import type { DeviceAnswer, DevicesAnswer, ForecastAnswer } from '../../../../api/sdk/devices.ts'
import { write } from '../../http.ts'
import { type Paged, usePagedQuery } from '../../paged_queries.ts'
import { invalidate, type QueryResult, useQuery } from '../../queries.ts'

export type Device = InferOutput<typeof DeviceAnswer>
export type Calls = InferOutput<typeof CallsAnswer>
export type Forecast = InferOutput<typeof ForecastAnswer>
type Devices = InferOutput<typeof DevicesAnswer>

const DEVICES_PATH = '/api/v1/devices'
export const CALLS_PATH = '/api/v1/calls'
/** As many devices of a user as a profile shows. */
const SHOWN_OF_USER = '20'

export const useDevices = (app: string | null): Paged<Devices> =>
  usePagedQuery<Devices>(DEVICES_PATH, { app }, 'before')
export const useDevicesOf = (user: string, app: string): QueryResult<Devices> =>
  useQuery<Devices>(DEVICES_PATH, { user, app, limit: SHOWN_OF_USER })
export const useCalls = (app: string | null): QueryResult<Calls> => useQuery<Calls>(CALLS_PATH, { app })
export const useForecast = (app: string | null, days: '2' | '7'): QueryResult<Forecast> =>
  useQuery<Forecast>(`${DEVICES_PATH}/forecast`, { app, days })

export async function revokeDevice(id: string): Promise<void> {
  await write('DELETE', `${DEVICES_PATH}/${encodeURIComponent(id)}`)
  await invalidate(DEVICES_PATH)
}

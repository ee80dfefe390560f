import { ClaimedJob, type Settling } from './claimed-job.ts'
import type { Exchanged } from './exchange.ts'
import type { Source } from '../source/source.ts'

/** The jobs of an exchange; none where their leases were over before its answer came: they are others' to claim. */
export function toClaimedJobs<Payload>(
  source: Source,
  settling: Settling,
  exchanged: Exchanged,
): ClaimedJob<Payload>[] {
  if (exchanged.end.latest <= performance.now()) return []
  const { jobs, options } = exchanged
  const byPlace = options.length === 0 ? null : new Map(options.map((each) => [each.at, each]))
  return jobs.map((_, at) => new ClaimedJob<Payload>(source, settling, exchanged, at, byPlace?.get(at)))
}

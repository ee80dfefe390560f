// How much of a call a job takes with what its options are. A script works on them for as long as nobody else is served, so a
// call carries fewer jobs with many options, as it carries fewer that are large.

import { PLAIN, type SpecOptions } from './job-options.ts'

/** What one call carries at most. */
export const CALL: { readonly items: number; readonly bytes: number } = {
  items: 1000,
  bytes: 4 * 1024 * 1024,
}

// As measured by `npm run bench -- queue-options`: a thousand jobs with one option that costs nothing fill a call.
const COST = {
  job: 1,
  group: 1,
  id: 0.5,
  unique: 0.7,
  idempotencyKey: 0.8,
  tag: 0.2,
  parents: 1,
  parent: 0.4,
}
const BYTES = CALL.bytes / CALL.items

/** In bytes: a job that takes as long as so many bytes would fill a call alike. */
export function workOf(options: SpecOptions): number {
  if (options === PLAIN) return 0
  const { id, group, unique, idempotencyKey, tags, parents } = options
  let cost = COST.job
  if (id !== '') cost += COST.id
  if (group !== '') cost += COST.group
  if (unique !== '') cost += COST.unique
  if (idempotencyKey !== '') cost += COST.idempotencyKey
  if (tags !== '') cost += COST.tag * tags.split('\0').length
  if (parents !== '') cost += COST.parents + COST.parent * parents.split('\0').length
  return Math.floor(cost * BYTES)
}

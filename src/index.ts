// Exports of the library: a table of contents.

export { Perilune, perilune } from './perilune.ts'
export * from './autocomplete/autocomplete.ts'
export * from './cache/cache.ts'
export { Catalog, type CatalogEntry, type Listing, type ListOptions } from './catalog/catalog.ts'
export * from './collection/names.ts'
export * from './counters/names.ts'
export type { Driver } from './driver.ts'
export * from './feed/names.ts'
export * from './lock/names.ts'
export * from './once/once.ts'
export * from './queue/names.ts'
// A claim of a feed has options of its own.
export type { JobClaimOptions as QueueClaimOptions } from './queue/claims/claims.ts'
export * from './rate-limit/names.ts'
export { bytes, type Codec, json, jsonText, text, type Undecodable } from './runtime/values/codec.ts'
export type { Connection, ConnectionOptions, StructureScripts } from './runtime/connection/connection.ts'
export type { Duration } from './runtime/values/duration.ts'
export {
  AmbiguousError,
  DriverError,
  type DriverErrorCode,
  InvalidArgumentError,
  LeaseLostError,
  LoadFailedError,
  MaxRunError,
  PeriluneError,
  ResultNotKeptError,
  UnsupportedServerError,
  WaitTimeoutError,
} from './runtime/errors/errors.ts'
export type { Lease } from './runtime/leases/lease.ts'
export type { Extended, LeasesByToken } from './runtime/leases/lease-by-token.ts'
export type { DetachedLease, NotGranted } from './runtime/leases/acquire-detached.ts'
export type { Waiting } from './runtime/waiting/wait.ts'
export * from './semaphore/names.ts'

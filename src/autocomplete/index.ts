// The exports of `perilune/autocomplete`.

import * as operations from '../generated/autocomplete.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import { Autocomplete, type AutocompleteOptions } from './autocomplete.ts'

export * from './autocomplete.ts'

/** For `preload` of a connection. */
export const autocompleteScripts: StructureScripts = /* @__PURE__ */ scriptsOf('autocomplete', operations)

/** An index that suggests texts while a user types. Throws InvalidArgumentError. */
export function autocomplete<Payload = unknown>(
  connection: HasRuntime,
  name: string,
  options: AutocompleteOptions<Payload> = {},
): Autocomplete<Payload> {
  return new Autocomplete(runtimeOf(connection), name, options)
}

// A property with this seed draws the same values again; see tools/setup/run-twice.mjs.

import * as fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env['PERILUNE_DRAWN']) })

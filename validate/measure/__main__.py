"""`python -m tinygpu.validate.measure`."""

from tinygpu.validate.measure.run import main

raise SystemExit(main())

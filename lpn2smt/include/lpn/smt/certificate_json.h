// Certificates as text: a JSON object each, as it stands in the files of `lpn smt --certificate`.
//
//     {"path": number, "bound": ticks, "steps": [step, ...]}
//
// A step is an object with a "kind" ("split", "no input", "point", "relaxation", "solver") and the
// members of smt::Step that its kind has, by their names. Those with a default ("budget",
// "quantum", "parts", "chains") are left out where they have it; chains are [weight, arcs], tolls
// [instant, weight, arcs].
#pragma once

#include <string>
#include <string_view>

#include "lpn/smt/certificate.h"

namespace lpn::smt {

std::string to_json(const PathCertificate& certificate);

// Which side is bounded is not in the text: what asks for the proof knows it. Throws Error
// "E-certificate" when the text is no certificate; whether it proves anything says check().
PathCertificate parse_certificate(std::string_view text, bool maximum);

}  // namespace lpn::smt

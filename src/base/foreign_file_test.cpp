#include "base/foreign_file.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::foreign_file_test {
namespace {

std::string what(std::string_view bytes) {
  const auto found = foreign_file(bytes);
  return found ? found->what : "";
}

TEST(ForeignFiles, StandInsAreRefusedWhereverTheyAreRead) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 102400\n";
  EXPECT_EQ(what(pointer), "a Git LFS pointer, not the file of 102400 bytes that it stands for");
  EXPECT_THROW(refuse_stand_in(pointer, "m.onnx"), Error);
  for (const char* page :
       {"<!DOCTYPE html>\n<html>", " \n<html lang=\"en\">", "<!-- a -->\n<!doctype HTML PUBLIC \"\">",
        "\xef\xbb\xbf<HTML>", "<head><title>404</title>"}) {
    EXPECT_NE(what(page).find("a web page (HTML)"), std::string::npos) << page;
    EXPECT_THROW(refuse_stand_in(page, "m.onnx"), Error);
  }
}

TEST(ForeignFiles, OthersAreLeftAlone) {
  for (const char* text :
       {"", "<", "<ir_version: 8>", "<html_graph: 1>", "version 2", "\x08\x07", "<!-- never closed", "{}"})
    EXPECT_NO_THROW(refuse_stand_in(text, "m.onnx")) << text;
  EXPECT_EQ(what("<ir_version: 8>"), "");
}

TEST(ForeignFiles, KnownKinds) {
  EXPECT_NE(what(std::string_view("PK\x03\x04", 4)).find("ZIP"), std::string::npos);
  EXPECT_EQ(what("\x1f\x8b\x08"), "packed with gzip");
  EXPECT_EQ(what(std::string_view("\x1c\0\0\0TFL3", 8)), "a TensorFlow Lite model");
  EXPECT_EQ(what("\x7f"
                 "ELF"),
            "a program or library");
  EXPECT_EQ(what("ftrt"), "an engine of TensorRT");
  EXPECT_EQ(what(std::string(257, 'a') + "ustar"), "a tar archive");
  EXPECT_EQ(what(std::string(200, 'a')), "");
}

}  // namespace
}  // namespace assay::foreign_file_test
